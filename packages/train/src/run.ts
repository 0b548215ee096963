/** What the stages of a run share: its parts, its directory, its log, and where it stands. */
import type { EventSink } from '@saccade/core';
import type { Learner, LearnResult } from '@saccade/learner';
import type { MetricsLog, MetricsRow, RunState } from '@saccade/run-store';
import type { Parts } from './parts.ts';
import type { Sections } from './sections/sections.ts';

export interface Run {
  readonly config: Sections;
  readonly parts: Parts;
  readonly learner: Learner;
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

/** Adds what was learned to the run's books; gives the metrics. */
export function noteLearned(
  run: Run,
  { metrics, tokenCount, skippedUpdates }: LearnResult,
): Readonly<Record<string, number>> {
  run.state = { ...run.state, tokens: run.state.tokens + tokenCount };
  if (skippedUpdates > 0) {
    const message =
      `Step ${run.state.rlSteps}: ${skippedUpdates} updates had a gradient that is not finite; ` +
      'weights and moments stayed as they were.';
    run.onEvent({ kind: 'warning', message });
  }
  return metrics;
}

/** Updates of reinforcement learning that came before the next step. */
export function updatesDone({ config, state }: Pick<Run, 'config' | 'state'>): number {
  return state.rlSteps * config.rl.minibatches;
}

/** Appends a row to the log and shows it. */
export function logRow(run: Pick<Run, 'log' | 'onEvent'>, row: MetricsRow): void {
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
