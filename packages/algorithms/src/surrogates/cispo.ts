/** The log-probability weighted with a clipped ratio that is constant. */
import { ConfigError } from '@saccade/core';
import { choice } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { clipRange } from '../fields.ts';
import { clip } from '../marks.ts';
import { owning } from '../unit.ts';

/** Options of `cispoSurrogate`. */
export interface CispoOptions {
  /** ε_low; at least 0. Ignored with `absolute`. */
  readonly clipLow: number;
  /** ε_high, or with `absolute` the largest weight itself; at least 0. */
  readonly clipHigh: number;
  /** `relative`: from 1 − clipLow to 1 + clipHigh. `absolute`: at most clipHigh, no lower bound. */
  readonly clipBounds: 'relative' | 'absolute';
}

/**
 * Clips the weight instead of the loss: no token loses its gradient.
 *
 *   relative:  ℓ = −sg(clip(ρ, 1−clipLow, 1+clipHigh))·A·logprob
 *   absolute:  ℓ = −sg(min(ρ, clipHigh))·A·logprob
 *
 * MiniMax-M1, arXiv:2506.13585, which in effect has no lower bound. `relative` is the
 * paper's and verl's convention, `absolute` TRL's.
 *
 * @throws ConfigError if a bound is negative
 */
export const cispoSurrogate = owning(
  {
    ...clipRange,
    clipBounds: choice(['relative', 'absolute'], {
      default: 'relative',
      about: 'Whether clipLow and clipHigh are distances from 1, or clipHigh is the bound itself.',
    }),
  },
  makeCispo,
  ({ clipBounds }) => ['clipHigh', 'clipBounds', ...(clipBounds === 'relative' ? ['clipLow'] : [])],
);

function makeCispo(options: CispoOptions): Surrogate {
  const { clipLow, clipHigh, clipBounds: bounds } = options;
  const low = bounds === 'relative' ? 1 - clipLow : 0;
  const high = bounds === 'relative' ? 1 + clipHigh : clipHigh;
  if (!(low <= high && clipLow >= 0 && clipHigh >= 0)) {
    throw new ConfigError(
      'clipHigh',
      `clipLow ${clipLow} and clipHigh ${clipHigh} leave no ratio. Both must be at least 0.`,
    );
  }
  return ({ ratios, advantages, logprobs }) => {
    const losses = new Float64Array(ratios.length);
    const gradLogprobs = new Float64Array(ratios.length);
    const clips = new Uint8Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      const ratio = ratios[t] as number;
      const weight = Math.max(low, Math.min(high, ratio)) * (advantages[t] as number);
      losses[t] = -weight * (logprobs[t] as number);
      gradLogprobs[t] = -weight;
      if (ratio > high) clips[t] = clip.high;
      else if (ratio < low) clips[t] = clip.low;
    }
    return { losses, gradRatios: new Float64Array(ratios.length), gradLogprobs, clips };
  };
}
