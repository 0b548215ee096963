/** How old what is trained on is, in batches learned from since it was sampled. */

import { mean } from '@saccade/eval';
import type { AdvantagedTrajectory } from '@saccade/schedulers';

/**
 * `staleness/mean`, `staleness/max`, and the histogram `staleness/<k>`: the share of the trajectories
 * whose oldest token is k batches old; `staleness/mixed_ratio` is the share that weights of several
 * versions sampled. Nothing where nothing is trained on.
 *
 * @param version batches learned from before this one
 */
export function stalenessMetrics(
  trained: readonly AdvantagedTrajectory[],
  version: number,
  maxStaleness: number,
): Record<string, number> {
  if (trained.length === 0) return {};
  const ages = trained.map(({ trajectory }) => version - trajectory.policyVersion);
  const isMixed = trained.map(({ trajectory }) =>
    trajectory.segments.some((segment) => segment.policyVersion !== undefined),
  );
  const histogram = Array.from({ length: maxStaleness + 1 }, (_, age) => [
    `staleness/${age}`,
    mean(ages.map((one) => (one === age ? 1 : 0))),
  ]);
  return {
    'staleness/mean': mean(ages),
    'staleness/max': Math.max(...ages),
    'staleness/mixed_ratio': mean(isMixed.map((one) => (one ? 1 : 0))),
    ...Object.fromEntries(histogram),
  };
}
