/** The advantage of GRPO: standardised within the group. */
import type { Advantage } from '../choices.ts';
import { meanOf } from './group-mean.ts';

/**
 * Reward minus the group's mean, over the group's standard deviation.
 *
 *   A_i = (R_i − mean(R)) / (std(R) + epsilon)
 *
 * DeepSeekMath, arXiv:2402.03300, §4.1.2, which leaves std's denominator and epsilon open. Here it
 * is G − 1 and 1e-6, as in verl; TRL 1.13 has G − 1 and 1e-4. A group of one, or of equal rewards,
 * gets 0 (verl keeps the raw reward of a group of one).
 *
 * @returns [G] → [G]
 */
export function groupStd(options: { epsilon?: number } = {}): Advantage {
  const { epsilon = 1e-6 } = options;
  return (rewards) => {
    const mean = meanOf(rewards);
    const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
    const std = Math.sqrt(squares / Math.max(rewards.length - 1, 1));
    return rewards.map((reward) => (reward - mean) / (std + epsilon));
  };
}
