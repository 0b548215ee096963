/** A ratio to the proximal policy, weighted back to the policy that sampled. */
import { ConfigError } from '@saccade/core';
import { quantity } from '@saccade/core/settings';
import type { Ratio } from '../choices.ts';
import { LARGEST, maxLogRatio } from '../fields.ts';
import { product } from '../product.ts';
import { owning } from '../unit.ts';
import { tokenRatio } from './token.ts';

export interface DecoupledOptions {
  readonly maxLogRatio?: number;
  /** A token whose weight is above this has weight 0; 0 for no cap. */
  readonly behaviorCap?: number;
}

/**
 * Importance ratio to a recent (proximal) policy, which clipping keeps close, times the constant
 * ratio of that policy to the one that sampled (behavior).
 *
 *   ρₜ = exp(logprobsₜ − oldLogprobsₜ);   weightₜ = exp(oldLogprobsₜ − rolloutLogprobsₜ)
 *
 * Hilton et al. 2021, arXiv:2110.00641; AReaL, arXiv:2505.24298, whose code drops tokens with
 * a weight above a cap and keeps them in the denominator.
 *
 * @throws ConfigError if the batch has no rolloutLogprobs
 */
export const decoupledRatio = owning(
  {
    maxLogRatio,
    behaviorCap: quantity({
      min: 0,
      max: LARGEST,
      default: 0,
      unit: 'ratio',
      about: 'Weight above which the decoupled ratio drops a token; 0 disables it.',
    }),
  },
  makeDecoupledRatio,
);

function makeDecoupledRatio(options: DecoupledOptions = {}): Ratio {
  const { behaviorCap = 0, ...rest } = options;
  const cap = behaviorCap === 0 ? Number.POSITIVE_INFINITY : behaviorCap;
  return {
    ...tokenRatio(rest),
    weights: ({ oldLogprobs, rolloutLogprobs, lossMask, tokenWeights }) => {
      if (rolloutLogprobs === undefined) {
        throw new ConfigError(
          'rolloutLogprobs',
          'The decoupled ratio needs rolloutLogprobs, and the batch has none. ' +
            'Pass those of the engine that sampled, or set ratio to "token".',
        );
      }
      return Float64Array.from(lossMask, (mask, t) => {
        if (mask === 0) return 0;
        const given = tokenWeights?.[t] ?? 1;
        const weight = Math.exp((oldLogprobs[t] as number) - (rolloutLogprobs[t] as number));
        return weight > cap ? 0 : product(given, weight);
      });
    },
  };
}
