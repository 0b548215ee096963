/** The advantage that only subtracts the group's mean. */
import type { Advantage } from '../choices.ts';

/**
 * Reward minus the mean reward of its group.
 *
 *   A_i = R_i − mean(R)
 *
 * PyVision-RL, arXiv:2602.20739, eq. 2; the same without a standard deviation is argued for in
 * Dr. GRPO, arXiv:2503.20783. A group of one gets 0.
 *
 * @returns [G] → [G]
 */
export function groupMean(): Advantage {
  return (rewards) => {
    const mean = meanOf(rewards);
    return rewards.map((reward) => reward - mean);
  };
}

/**
 * Arithmetic mean. Equal values give exactly that value: rounding must not make a uniform group
 * look mixed.
 */
export function meanOf(values: Float64Array): number {
  const first = values[0] ?? 0;
  let excess = 0;
  for (const value of values) excess += value - first;
  return first + excess / Math.max(values.length, 1);
}
