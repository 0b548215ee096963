/** What the stages of a run share: its parts, its directory, its log, and where it stands. */

import type { EvaluatedRun } from '@saccade/eval';
import type { Learner, LearnResult } from '@saccade/learner';
import type { RunParts, RunSections } from './run-parts.ts';

/**
 * A run while it trains: what the cold start, the reinforcement-learning loops and the evaluations
 * share. Its `state` says how far it is, and is what a checkpoint stores.
 */
export interface Run extends EvaluatedRun {
  readonly config: RunSections;
  readonly parts: RunParts;
  readonly learner: Learner;
  /** True once a person asked for a stop. */
  readonly isStopRequested: () => boolean;
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
