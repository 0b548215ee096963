/** Generalised advantage estimation with a value function. */
import { ConfigError } from '@saccade/core';
import type { TokenAdvantage } from '../choices.ts';
import { forEachSequence } from '../sequences.ts';
import { whiten } from '../statistics.ts';
import { tokenRewardsOf } from '../token-rewards.ts';

/**
 * Exponentially weighted sum of the value function's errors.
 *
 *   δₜ = rₜ + gamma·Vₜ₊₁ − Vₜ;   Âₜ = δₜ + gamma·lambda·Âₜ₊₁;   returnsₜ = Âₜ + Vₜ;   A = whiten(Â)
 *
 * Schulman et al. 2016, arXiv:1506.02438, eq. 16. Tokens that do not train are jumped over: the next
 * token is the next that trains. Returns are those before whitening.
 *
 * @throws ConfigError if the step has no values
 */
export function gae(
  options: { gamma?: number; lambda?: number; isWhitened?: boolean; countEpsilon?: number } = {},
): TokenAdvantage {
  const { gamma = 1, lambda = 1, isWhitened = true, countEpsilon = 0 } = options;
  return (step) => {
    const { values, lossMask, sequenceOffsets } = step;
    if (values === undefined) {
      throw new ConfigError(
        'values',
        'Generalised advantage estimation needs values, and the step has none. ' +
          'Score it with the value function.',
      );
    }
    const rewards = tokenRewardsOf(step);
    const advantages = new Float64Array(lossMask.length);
    const returns = new Float64Array(lossMask.length);
    forEachSequence(sequenceOffsets, (_, start, end) => {
      let nextValue = 0;
      let running = 0;
      for (let t = end - 1; t >= start; t--) {
        if (lossMask[t] === 0) continue;
        const value = values[t] as number;
        const delta = (rewards[t] as number) + gamma * nextValue - value;
        running = delta + gamma * lambda * running;
        nextValue = value;
        advantages[t] = running;
        returns[t] = running + value;
      }
    });
    if (!isWhitened) return { advantages, returns };
    return { advantages: whiten(advantages, lossMask, countEpsilon), returns };
  };
}
