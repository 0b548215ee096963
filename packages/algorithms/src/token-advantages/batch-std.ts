/** One scale for the whole batch instead of one for each group. */
import type { TokenAdvantage } from '../choices.ts';
import { over, stdOf } from '../statistics.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * The group's centred reward over the standard deviation of all rewards of the step.
 *
 *   Aₜ = A_sequence / (std(all rewards) + stdEpsilon)
 *
 * "Lite PPO", arXiv:2508.08221; TRL's `scale_rewards: batch`.
 */
export function batchStd(options: { epsilon?: number; ddof?: number } = {}): TokenAdvantage {
  const { epsilon = 1e-6, ddof = 1 } = options;
  return (step) => {
    const std = stdOf(step.rewards, ddof);
    const scaled = Float64Array.from(step.sequenceAdvantages, (value) => over(value, std, epsilon));
    return { advantages: broadcastOver(step, scaled) };
  };
}
