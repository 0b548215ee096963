/** The parts of a run that its stages share: components, directory, log, and where it stands. */

import type { EvaluatedRun } from '@saccade/eval';
import type { Learner, LearnOptions, LearnResult } from '@saccade/learner';
import type { RunParts, RunSections } from './run-parts.ts';

/**
 * A run while it trains: what the cold start, the reinforcement-learning loops and the evaluations
 * share. Its `state` says how far it is, and is what a checkpoint stores.
 */
export interface Run extends EvaluatedRun {
  readonly config: RunSections;
  readonly parts: RunParts;
  readonly learner: Learner;
  /** Whether a stop was requested. */
  readonly isStopRequested: () => boolean;
  /** The checkpoint it continues from; absent where it begins. */
  readonly resumedFrom?: string;
  /** Adds the state of the scheduling to a checkpoint. */
  saveSchedule?: (directory: string) => Promise<void>;
}

/** Thrown between two steps when a stop was asked for; the checkpoint is written. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Adds the tokens of a learning step to the run's state, and returns its metrics. */
export function noteLearned(
  run: Run,
  { metrics, tokenCount, skippedUpdates, coefficients }: LearnResult,
): Readonly<Record<string, number>> {
  run.state = {
    ...run.state,
    tokens: run.state.tokens + tokenCount,
    ...(coefficients && { coefficients }),
  };
  if (skippedUpdates > 0) {
    const message =
      `Step ${run.state.rlSteps}: ${skippedUpdates} updates had a gradient that is not finite; ` +
      'weights and moments stayed as they were.';
    run.onEvent({ kind: 'warning', message });
  }
  return metrics;
}

/** How the next step learns: with the coefficients that the step before gave. */
export function learnOptions({ state }: Pick<Run, 'state'>): LearnOptions {
  return state.coefficients === undefined ? {} : { coefficients: state.coefficients };
}

/** Updates of reinforcement learning that came before the next step. */
export function updatesDone({ config, state }: Pick<Run, 'config' | 'state'>): number {
  return state.rlSteps * config.rl.minibatches;
}
