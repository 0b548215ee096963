/** `metrics.jsonl`: one JSON object per row, in the order things happened. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { DataError } from '@saccade/core';

export type Stage = 'sft' | 'rl' | 'evaluation';

export interface MetricsRow {
  readonly stage: Stage;
  /** Steps of the whole run done when the row was written: SFT updates, then RL steps. */
  readonly step: number;
  readonly [name: string]: number | string;
}

/** Fields that depend on the clock; everything else is equal in every run of the same seed. */
export function isTiming(name: string): boolean {
  return name === 'step_time' || name.startsWith('time/') || name.startsWith('throughput/');
}

export interface MetricsLog {
  append(row: MetricsRow): void;
  /** Flushes to the disk and gives the size, to which a resumed run cuts the file. */
  flush(): number;
  close(): void;
}

/** Opens the log for appending, cut to `keepBytes` first where given. */
export function openMetricsLog(path: string, keepBytes?: number): MetricsLog {
  if (keepBytes !== undefined) {
    const sizeBytes = existsSync(path) ? statSync(path).size : 0;
    if (sizeBytes < keepBytes) {
      throw new DataError(
        `${path} has ${sizeBytes} bytes, the checkpoint was written at ${keepBytes}. ` +
          'Restore the file, or start a new run.',
      );
    }
    if (sizeBytes > keepBytes) truncateSync(path, keepBytes);
  }
  const file = openSync(path, 'a');
  return {
    append(row) {
      writeSync(file, `${JSON.stringify(row)}\n`);
    },
    flush() {
      fsyncSync(file);
      return statSync(path).size;
    },
    close: () => closeSync(file),
  };
}

/** All whole rows of a metrics file; a last line cut short by a crash is left out. */
export function readMetrics(path: string): MetricsRow[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      try {
        return JSON.parse(line) as MetricsRow;
      } catch (cause) {
        throw new DataError(`${path}: line ${index + 1} is not JSON. Remove the line.`, { cause });
      }
    });
}
