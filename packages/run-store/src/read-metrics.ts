/** Reads `metrics.jsonl` of a run. */
import { join } from 'node:path';
import { type FileSystem, type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { readManifest } from './manifest.ts';
import type { MetricsRow, Stage } from './metrics-log.ts';
import { readRows } from './rows.ts';
import { type Damage, damageOf, type Read } from './store-error.ts';

const STAGES: ReadonlySet<unknown> = new Set<Stage>(['sft', 'rl', 'evaluation']);

/** Rows with what the file says of itself. */
export interface Metrics {
  readonly rows: readonly MetricsRow[];
  /** False for a file of format 1: its rows have no checksums. */
  readonly isChecked: boolean;
}

/**
 * All rows of a run that are whole. Those that are damaged, missing or cut are named; a file that is
 * not there has no rows, and that is damage only where the run says it had some.
 */
export function readMetrics(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<Metrics> {
  const path = join(directory, 'metrics.jsonl');
  const written = readManifest(fileSystem, directory).value?.metricsBytes ?? 0;
  const { value, damage, sizeBytes } = readFile(fileSystem, path);
  const found = [...damage];
  if (sizeBytes < written && damage.length === 0) {
    const problem = `it has ${sizeBytes} bytes, it had ${written} at the last checkpoint`;
    found.push({ path, problem, remedy: 'Rows at its end are lost; restore it from a copy.' });
  }
  return { value, damage: found };
}

/** The same of a file, wherever it lies. */
export function readMetricsFile(
  path: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<Metrics> {
  const { value, damage } = readFile(fileSystem, path);
  return { value, damage };
}

function readFile(
  fileSystem: FileSystem,
  path: string,
): Read<Metrics> & { readonly sizeBytes: number } {
  let bytes: Buffer;
  try {
    if (fileSystem.status(path) === undefined) {
      return { value: { rows: [], isChecked: true }, damage: [], sizeBytes: 0 };
    }
    bytes = fileSystem.readFile(path);
  } catch (error) {
    const value = { rows: [], isChecked: true };
    return { value, damage: [damageOf(path, error)], sizeBytes: 0 };
  }
  const { value, damage } = readRows(path, bytes);
  const found: Damage[] = [...damage];
  const rows = value.rows.flatMap(({ value: row, line }) => {
    if (isMetricsRow(row)) return [row];
    const remedy = 'The row was left out; restore the file from a copy.';
    found.push({
      path,
      problem: `row ${line} has no stage and step, or a value no number`,
      remedy,
    });
    return [];
  });
  return {
    value: { rows, isChecked: value.isChecked },
    damage: found,
    sizeBytes: bytes.length,
  };
}

function isMetricsRow(row: Readonly<Record<string, unknown>>): row is MetricsRow {
  if (!STAGES.has(row.stage) || !Number.isSafeInteger(row.step)) return false;
  // JSON has no NaN: a number that was none is null.
  return Object.values(row).every(
    (value) => typeof value === 'number' || typeof value === 'string' || value === null,
  );
}

/**
 * Metrics that depend on the clock, or on what had to be done again; everything else is equal in every
 * run of the same seed.
 */
export function isTiming(name: string): boolean {
  return name === 'step_time' || name.startsWith('time/') || name.startsWith('throughput/');
}
