/** The advantage that only subtracts the group's mean. */
import type { GroupAdvantage } from '../choices.ts';
import { singleton as singletonField } from '../fields.ts';
import { deviations } from '../statistics.ts';
import { owning } from '../unit.ts';

/** The advantage of a group of one, which has nothing to compare with: 0 or its reward. */
export type Singleton = 'zero' | 'reward';

/**
 * Reward minus the mean reward of its group.
 *
 *   A_i = R_i − mean(R)
 *
 * PyVision-RL, arXiv:2602.20739, eq. 2; CodeV, arXiv:2511.19661; the same without a standard
 * deviation is argued for in Dr. GRPO, arXiv:2503.20783. A group of one gets 0, or in verl its
 * reward.
 *
 * @returns [G] → [G]
 */
export const groupMean = owning({ singleton: singletonField }, makeGroupMean);

function makeGroupMean(options: { readonly singleton?: Singleton } = {}): GroupAdvantage {
  const { singleton = 'zero' } = options;
  return ({ rewards }) =>
    rewards.length === 1 && singleton === 'reward'
      ? Float64Array.from(rewards)
      : deviations(rewards);
}
