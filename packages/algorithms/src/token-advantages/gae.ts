/** Generalized advantage estimation with a value function. */
import { ConfigError } from '@saccade/core';
import { flag, quantity } from '@saccade/core/settings';
import type { TokenAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { forEachSequence } from '../sequences.ts';
import { whiten } from '../statistics.ts';
import { rewardPlacement, tokenRewardsOf } from '../token-rewards.ts';
import { owning } from '../unit.ts';

/**
 * Exponentially weighted sum of the value function's errors.
 *
 *   δₜ = rₜ + gamma·Vₜ₊₁ − Vₜ;   Âₜ = δₜ + gamma·lambda·Âₜ₊₁;   returnsₜ = Âₜ + Vₜ;   A = whiten(Â)
 *
 * Schulman et al. 2016, arXiv:1506.02438, eq. 16. Tokens that do not train are skipped: the next
 * token is the next one that trains. Returns are those before whitening.
 *
 * @throws ConfigError if the step has no values
 */
export const gae = owning(
  {
    gamma: fields.gamma,
    lambda: quantity({
      min: 0,
      max: 1,
      default: 1,
      unit: 'factor',
      about: 'λ of generalized advantage estimation.',
    }),
    isWhitened: flag({
      default: true,
      about: 'Whether advantages are whitened over the tokens of the step.',
    }),
    lengthEpsilon: fields.lengthEpsilon,
    rewardPlacement,
  },
  makeGae,
  ({ isWhitened = true } = {}) => [
    'gamma',
    'lambda',
    'isWhitened',
    'rewardPlacement',
    ...(isWhitened ? ['lengthEpsilon'] : []),
  ],
);

function makeGae(
  options: {
    readonly gamma?: number;
    readonly lambda?: number;
    readonly isWhitened?: boolean;
    readonly lengthEpsilon?: number;
  } = {},
): TokenAdvantage {
  const { gamma = 1, lambda = 1, isWhitened = true, lengthEpsilon = 0 } = options;
  return (step) => {
    const { values, lossMask, sequenceOffsets } = step;
    if (values === undefined) {
      throw new ConfigError(
        'values',
        'Generalized advantage estimation needs values, and the step has none. ' +
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
    return { advantages: whiten(advantages, lossMask, lengthEpsilon), returns };
  };
}
