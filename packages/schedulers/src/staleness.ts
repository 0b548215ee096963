/** How old what is trained on may be, and which batches keep all the rest young enough. */
import type { ScoredGroup } from './scheduler.ts';

/**
 * Policy version of a group: that of its oldest tokens. A trajectory's is that of its oldest
 * segment, so a rollout that went on under new weights counts from where it began.
 */
export function versionOf({ trajectories }: Pick<ScoredGroup, 'trajectories'>): number {
  return Math.min(...trajectories.map(({ policyVersion }) => policyVersion));
}

/** staleness = trainer version − trajectory version. */
export function isTooStale(version: number, trainer: number, maxStaleness: number): boolean {
  return trainer - version > maxStaleness;
}

/**
 * Whether the groups that stay behind can all be trained on in time.
 *
 * A group of version w has to be in the batch of version w + maxStaleness at the latest. After the
 * batch of version v, each later one up to v + k takes B groups, so that what is due by then fits iff
 *
 *   #{groups left : w + maxStaleness ≤ v + k} ≤ k·B     for every k = 0 … maxStaleness
 *
 * (earliest deadline first: Hall's condition for unit jobs). If it holds for every batch, and at
 * most (maxStaleness + 1)·B groups are ever untrained, nothing becomes too stale.
 *
 * @param left versions of the groups that are ready or running and not in the batch
 */
export function leavesTime(
  left: readonly number[],
  trainer: number,
  { maxStaleness, promptsPerStep }: { maxStaleness: number; promptsPerStep: number },
): boolean {
  for (let k = 0; k <= maxStaleness; k++) {
    const due = left.filter((version) => version + maxStaleness <= trainer + k).length;
    if (due > k * promptsPerStep) return false;
  }
  return true;
}
