/** The errors that end a run in either loop. Each names the first cause and the remedy. */
import { StateError } from '@saccade/core';
import type { ScoredGroupResult } from '@saccade/rewards';
import type { Failure } from '@saccade/trajectory';
import type { Run } from './run.ts';

/** The error for a scheduler that asks for nothing and trains on nothing. */
export function stuckScheduler({ parts, state }: Run): StateError {
  return new StateError(
    `The scheduler ${parts.scheduler.name} neither rolls out nor trains in step ${state.rlSteps}. ` +
      'Choose another one, or raise its limits on what is in flight.',
  );
}

/**
 * The error for a step in which no group has a trajectory with a reward; undefined where one has,
 * and where nothing ended.
 */
export function nothingScored(
  { state }: Run,
  results: readonly ScoredGroupResult[],
): StateError | undefined {
  const [first] = results;
  if (first === undefined) return undefined;
  if (results.some(({ scored }) => scored.trajectories.length > 0)) return undefined;
  const failures = results.flatMap(({ failed }) => failed.flatMap(({ failure }) => failure ?? []));
  return new StateError(
    `No trajectory of step ${state.rlSteps} has a reward. ${describe(failures)} Remedy that ` +
      '(`saccade doctor` checks the machine), then continue with --resume.',
  );
}

/** How many failed at which boundary, and the first of them in its own words. */
function describe(failures: readonly Failure[]): string {
  const [first] = failures;
  if (first === undefined) return 'None ended.';
  const counts = new Map<string, number>();
  for (const { boundary } of failures) counts.set(boundary, (counts.get(boundary) ?? 0) + 1);
  const where = [...counts].map(([boundary, count]) => `${count} at the boundary "${boundary}"`);
  return `They failed: ${where.join(', ')}; the first said: ${first.message}`;
}
