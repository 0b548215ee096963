/** What the stages of a run share: its parts, its directory, its log, and where it stands. */
import type { EventSink } from '@saccade/core';
import type { MetricsLog, MetricsRow, RunState } from '@saccade/run-store';
import type { Parts } from './parts.ts';
import type { Sections } from './sections/sections.ts';

export interface Run {
  readonly config: Sections;
  readonly parts: Parts;
  readonly directory: string;
  readonly log: MetricsLog;
  readonly onEvent: EventSink;
  /** True once a person asked for a stop. */
  readonly isStopRequested: () => boolean;
  /** Where the run stands; replaced, never changed. */
  state: RunState;
  /** The checkpoint it goes on from; absent where it begins. */
  readonly resumedFrom?: string;
  /** Adds to a checkpoint what the scheduling of the moment has to find there again. */
  saveSchedule?: (directory: string) => Promise<void>;
}

/** Thrown between two steps when a stop was asked for; the checkpoint is written. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Appends a row to the log and shows it. */
export function logRow(run: Run, row: MetricsRow): void {
  run.log.append(row);
  const values = Object.fromEntries(
    Object.entries(row).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
  run.onEvent({ kind: 'metrics', step: row.step, values });
}

/** Steps of the whole run: updates of the cold start, then reinforcement-learning steps. */
export function totalSteps({ sftUpdates, rlSteps }: RunState): number {
  return sftUpdates + rlSteps;
}

/** Seconds that an asynchronous call took, with its result. */
export async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
}
