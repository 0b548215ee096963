/** The clipped surrogate of PPO, with separate ranges, an optional dual clip and TRL's delta. */
import { ConfigError } from '@saccade/core';
import { quantity } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { clipRange, LARGEST } from '../fields.ts';
import { clip } from '../marks.ts';
import { product } from '../product.ts';
import { owning } from '../unit.ts';

/** Options of `clipped`. */
export interface ClippedOptions {
  /** ε_low: ρ counts as at least 1 − clipLow where A < 0. */
  readonly clipLow: number;
  /** ε_high: ρ counts as at most 1 + clipHigh where A > 0. */
  readonly clipHigh: number;
  /** c > 1: where A < 0 the loss is at most −c·A. 0 disables it. */
  readonly dualClip?: number;
  /** δ: the ratio that is not clipped counts as at most this. 0 disables it. */
  readonly delta?: number;
}

/**
 * Per-token clipped surrogate loss with separate lower and upper ranges, and dual clipping.
 *
 *   ℓ = max(−min(ρ, delta)·A, −clip(ρ, 1−clipLow, 1+clipHigh)·A)
 *   where A < 0:  ℓ = min(ℓ, −dualClip·A)
 *
 * Schulman et al. 2017, arXiv:1707.06347, eq. 7; separate ranges: DAPO, arXiv:2503.14476, eq. 10;
 * dual clip: Ye et al. 2020, arXiv:1912.09729; delta: INTELLECT-2, arXiv:2505.07291, and TRL. Above
 * 1 + clipHigh, delta is a dual clip. Below, it bounds ρ where A > 0, and where A < 0 the bound is
 * 1 + clipHigh.
 *
 * At a bound itself the unclipped side's derivative is taken.
 *
 * @throws ConfigError if a range is negative, or dualClip is neither 0 nor above 1
 */
export const clipped = owning(
  {
    ...clipRange,
    dualClip: quantity({
      min: 0,
      max: LARGEST,
      default: 0,
      unit: 'ratio',
      about: 'c: where A < 0 the ratio counts as at most this; 0 disables it, else above 1.',
    }),
    delta: quantity({
      min: 0,
      max: LARGEST,
      default: 0,
      unit: 'ratio',
      about: 'δ of TRL: the ratio that is not clipped counts as at most this; 0 disables it.',
    }),
  },
  makeClipped,
);

function makeClipped(options: ClippedOptions): Surrogate {
  const { clipLow, clipHigh, dualClip = 0, delta = 0 } = options;
  checkRanges(options);
  const low = 1 - clipLow;
  const high = delta > 0 ? Math.min(1 + clipHigh, delta) : 1 + clipHigh;
  const dual = Math.min(
    dualClip > 0 ? dualClip : Number.POSITIVE_INFINITY,
    delta > 0 ? Math.max(delta, 1 + clipHigh) : Number.POSITIVE_INFINITY,
  );
  return ({ ratios, advantages }) => {
    const losses = new Float64Array(ratios.length);
    const gradRatios = new Float64Array(ratios.length);
    const clips = new Uint8Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      const ratio = ratios[t] as number;
      const advantage = advantages[t] as number;
      if (advantage > 0 && ratio > high) {
        losses[t] = -high * advantage;
        clips[t] = clip.high;
      } else if (advantage < 0 && ratio < low) {
        losses[t] = -low * advantage;
        clips[t] = clip.low;
      } else if (advantage < 0 && ratio > dual) {
        losses[t] = -dual * advantage;
        clips[t] = clip.dual;
      } else {
        losses[t] = product(-ratio, advantage);
        gradRatios[t] = -advantage;
      }
    }
    return { losses, gradRatios, clips };
  };
}

function checkRanges({ clipLow, clipHigh, dualClip = 0, delta = 0 }: ClippedOptions): void {
  for (const [name, value] of Object.entries({ clipLow, clipHigh, delta })) {
    if (!(value >= 0)) throw new ConfigError(name, `${name} must be at least 0, is ${value}.`);
  }
  if (dualClip !== 0 && !(dualClip > 1)) {
    throw new ConfigError(
      'dualClip',
      `dualClip must be above 1, or 0 to disable it; it is ${dualClip}.`,
    );
  }
}
