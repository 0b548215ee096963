/** Tokens that a learner computes for a batch. */
import type { AdvantagedTrajectory } from '@saccade/schedulers';

/**
 * Packed tokens of a batch: every trajectory after its prompt, and the prompt of each group once, or
 * with each trajectory where prefixes are not shared.
 *
 *   T = Σ_groups prompt + Σ_trajectories (model + observation tokens)
 */
export function packedTokens(
  batch: readonly AdvantagedTrajectory[],
  sharedPrefix: boolean,
): number {
  const seen = new Set<string>();
  let tokens = 0;
  for (const { trajectory } of batch) {
    for (const { kind, tokens: own } of trajectory.segments) {
      if (kind === 'prompt' && sharedPrefix) {
        if (seen.has(trajectory.taskId)) continue;
        seen.add(trajectory.taskId);
      }
      tokens += own.length;
    }
  }
  return tokens;
}
