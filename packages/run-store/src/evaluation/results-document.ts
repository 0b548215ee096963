/** `results.json`: the numbers of an evaluation. They follow from the samples alone. */
import { join } from 'node:path';
import { writeDurably } from '../durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from '../file-system.ts';
import { formatSealed, readSealed } from '../sealed-json.ts';
import type { Read } from '../store-error.ts';

/** Metrics by name, with intervals for those that have one. */
export interface Measured {
  /** Tasks that have at least one scored sample. */
  readonly tasks: number;
  /** Scored samples. */
  readonly samples: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Lower and upper end of the interval of a metric, at `level`. */
  readonly intervals: Readonly<Record<string, readonly [low: number, high: number]>>;
}

/** One bar of a histogram or one point of a curve. */
export interface Bucket {
  /** Its place: `3`, `4+`, `256–511`, or a category. */
  readonly label: string;
  /** Share of all samples, 0 to 1. */
  readonly share: number;
  readonly samples: number;
  /** Mean score of the samples in it. */
  readonly accuracy: number;
}

/** A detector of reward hacking and what it flagged. */
export interface SuiteFinding {
  readonly detector: string;
  readonly share: number;
  readonly isAlarm: boolean;
  readonly message: string;
}

/** The numbers of one suite. */
export interface SuiteResults extends Measured {
  readonly k: number;
  /** Samples that should be there and have no score: they failed, or nobody has drawn them yet. */
  readonly missing: number;
  /** Level of the intervals, e.g. 0.95. */
  readonly level: number;
  /** By slice and value, e.g. `difficulty` → `3`. */
  readonly slices: Readonly<Record<string, Readonly<Record<string, Measured>>>>;
  /** By subject: `turns`, `tokens`, `calls`, `tools`, `ends`. */
  readonly buckets: Readonly<Record<string, readonly Bucket[]>>;
  readonly findings: readonly SuiteFinding[];
}

/** The content of `results.json`. */
export interface EvaluationResults {
  /** False while samples are missing. */
  readonly isComplete: boolean;
  readonly suites: Readonly<Record<string, SuiteResults>>;
}

const REMEDY = 'It follows from the samples: run the same `saccade eval` again to write it anew.';

function pathIn(directory: string): string {
  return join(directory, 'results.json');
}

/** Writes `results.json`. The same results give the same bytes. @throws StoreError if it cannot */
export function writeResults(
  directory: string,
  results: EvaluationResults,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  writeDurably(fileSystem, pathIn(directory), formatSealed('results', { ...results }));
}

/** Reads `results.json`; undefined, without damage, while there is none. */
export function readResults(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<EvaluationResults | undefined> {
  const path = pathIn(directory);
  if (fileSystem.status(path) === undefined) return { value: undefined, damage: [] };
  const { value, damage } = readSealed(fileSystem, path, 'results', REMEDY);
  if (value?.isChecked === false) {
    const problem = 'its checksum is missing, so it was changed after it was written';
    return { value: undefined, damage: [{ path, problem, remedy: REMEDY }] };
  }
  return { value: value?.fields as unknown as EvaluationResults | undefined, damage };
}
