/** Each trajectory is compared with the others of its group. */
import type { GroupAdvantage } from '../choices.ts';
import { singleton as singletonField } from '../fields.ts';
import { deviations } from '../statistics.ts';
import { owning } from '../unit.ts';
import type { Singleton } from './group-mean.ts';

/**
 * Reward minus the mean reward of the group's other trajectories: an unbiased baseline.
 *
 *   A_i = R_i − (Σ_{j≠i} R_j)/(G − 1) = (R_i − mean(R))·G/(G − 1)
 *
 * RLOO, arXiv:2402.14740. A group of one gets 0, as in TRL, or in verl's `rloo` its reward.
 *
 * @returns [G] → [G]
 */
export const leaveOneOut = owning({ singleton: singletonField }, makeLeaveOneOut);

function makeLeaveOneOut(options: { readonly singleton?: Singleton } = {}): GroupAdvantage {
  const { singleton = 'zero' } = options;
  return ({ rewards }) => {
    const G = rewards.length;
    if (G === 1) return Float64Array.from(rewards, (reward) => (singleton === 'zero' ? 0 : reward));
    return deviations(rewards).map((deviation) => (deviation * G) / (G - 1));
  };
}
