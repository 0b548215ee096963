/** The advantage that only subtracts the group's mean. */
import type { GroupAdvantage } from '../choices.ts';
import { meanOf } from '../statistics.ts';

/** What a group of one gets: nothing to compare with, or its reward as it is. */
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
export function groupMean(options: { singleton?: Singleton } = {}): GroupAdvantage {
  const { singleton = 'zero' } = options;
  return ({ rewards }) => {
    const mean = rewards.length === 1 && singleton === 'reward' ? 0 : meanOf(rewards);
    return Float64Array.from(rewards, (reward) => reward - mean);
  };
}
