/** `metrics.jsonl`: one JSON object per row, in the order of events. */

import { dirname } from 'node:path';
import { type EventSink, span } from '@saccade/core';
import { flush as flushPath, makeDirectories } from './durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { RowLog } from './row-log.ts';
import { FIRST_LINK, readRows } from './rows.ts';
import { type Damage, storeError } from './store-error.ts';

/**
 * The subject of a row: an update of the cold start, a step of reinforcement learning, or an
 * evaluation.
 */
export type Stage = 'sft' | 'rl' | 'evaluation';

/**
 * One row of `metrics.jsonl`: its stage, its step, and metrics by name. `metricCatalog` says what
 * each means.
 */
export interface MetricsRow {
  readonly stage: Stage;
  /** Steps of the whole run done when the row was written: SFT updates, then RL steps. */
  readonly step: number;
  readonly [name: string]: number | string;
}

/** Where the log stood when a checkpoint was written. */
export interface MetricsMark {
  readonly sizeBytes: number;
  /** The checksum to which the next row is linked; absent in checkpoints of format 1. */
  readonly link?: string;
}

/** An open `metrics.jsonl`. Every row carries a checksum that is linked to the row before. */
export interface MetricsLog {
  /** Damage and lost rows that were found when the log was opened. */
  readonly damage: readonly Damage[];
  /** @throws StoreError if the row cannot be written; no part of it is left in the file */
  append(row: MetricsRow): void;
  /** Flushes to the disk and returns the end of the log, where a resumed run truncates the file. */
  flush(): Required<MetricsMark>;
  close(): void;
}

/** Options of `openMetricsLog`. */
export interface MetricsLogOptions extends FileSystemOption {
  /** Where to continue. Default: after the last whole row. */
  readonly from?: MetricsMark;
}

/**
 * Opens the log for appending. Rows after `from` belong to steps that will be repeated, and are
 * removed. A file that is shorter has lost rows: that is damage, not an error, because training
 * does not need them.
 *
 * @throws StoreError if the file cannot be opened
 */
export function openMetricsLog(
  path: string,
  { from, fileSystem = nodeFileSystem }: MetricsLogOptions = {},
): MetricsLog {
  const damage: Damage[] = [];
  let file: number;
  let size: number;
  let link: string;
  try {
    makeDirectories(fileSystem, dirname(path));
    const isNew = fileSystem.status(path) === undefined;
    file = fileSystem.open(path, 'a');
    if (isNew) flushPath(fileSystem, dirname(path));
  } catch (error) {
    throw storeError(path, error);
  }
  try {
    const found = fileSystem.readFile(path);
    const wanted = Math.min(found.length, from?.sizeBytes ?? found.length);
    const kept = found.subarray(0, wanted);
    size = kept.lastIndexOf(0x0a) + 1;
    const read = readRows(path, kept);
    damage.push(...read.damage);
    if (from !== undefined && from.sizeBytes > size) {
      damage.push({
        path,
        problem: `it ends after ${size} bytes, the checkpoint was written at ${from.sizeBytes}`,
        remedy: 'The rows between are lost; restore the file from a copy to have them.',
      });
    }
    link = from?.link ?? read.value.lastOwn;
    if (size < found.length) {
      fileSystem.truncate(file, size);
      fileSystem.sync(file);
    }
  } catch (error) {
    fileSystem.close(file);
    throw storeError(path, error);
  }
  const rows = new RowLog(fileSystem, path, file, { sizeBytes: size, link });
  return {
    damage,
    append: (row) => rows.append(JSON.stringify(row)),
    flush: () => rows.flush(),
    close: () => rows.close(),
  };
}

/** Whether a text is a valid link. */
export function isLink(text: string): boolean {
  return text === FIRST_LINK || /^[0-9a-f]{16}$/.test(text);
}

/** Appends a row to a log, and sends its numbers as a `metrics` event. */
export function logRow(
  { log, onEvent }: { readonly log: MetricsLog; readonly onEvent: EventSink },
  row: MetricsRow,
): void {
  span('files/metrics', () => log.append(row));
  const values = Object.fromEntries(
    Object.entries(row).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
  onEvent({ kind: 'metrics', step: row.step, values });
}
