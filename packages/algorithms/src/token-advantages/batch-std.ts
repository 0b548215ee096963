/** Divides by one standard deviation of the whole batch instead of one per group. */
import type { TokenAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { over, stdOf } from '../statistics.ts';
import { owning } from '../unit.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * The group's centered reward over the standard deviation of all rewards of the step.
 *
 *   Aₜ = A_sequence / (std(all rewards) + stdEpsilon)
 *
 * "Lite PPO", arXiv:2508.08221; TRL's `scale_rewards: batch`.
 */
export const batchStd = owning(
  { stdEpsilon: fields.stdEpsilon, stdDof: fields.stdDof },
  makeBatchStd,
);

function makeBatchStd(
  options: { readonly stdEpsilon?: number; readonly stdDof?: number } = {},
): TokenAdvantage {
  const { stdEpsilon = 1e-6, stdDof = 1 } = options;
  return (step) => {
    const std = stdOf(step.rewards, stdDof);
    const scaled = Float64Array.from(step.sequenceAdvantages, (value) =>
      over(value, std, stdEpsilon),
    );
    return { advantages: broadcastOver(step, scaled) };
  };
}
