/** The clipped surrogate of PPO, with separate ranges and an optional dual clip. */
import { ConfigError } from '@saccade/core';
import type { Surrogate } from '../choices.ts';
import { clip } from '../marks.ts';

export interface ClippedOptions {
  /** ε_low: ρ counts as at least 1 − clipLow where A < 0. */
  readonly clipLow: number;
  /** ε_high: ρ counts as at most 1 + clipHigh where A > 0. */
  readonly clipHigh: number;
  /** c > 1: where A < 0 the loss is at most −c·A. 0 for none. */
  readonly dualClip?: number;
}

/**
 * Per-token clipped surrogate loss with separate lower and upper ranges, and dual clipping.
 *
 *   ℓ = max(−ρ·A, −clip(ρ, 1−clipLow, 1+clipHigh)·A);   where A < 0:  ℓ = min(ℓ, −dualClip·A)
 *
 * Schulman et al. 2017, arXiv:1707.06347, eq. 7; separate ranges: DAPO, arXiv:2503.14476, eq. 10;
 * dual clip: Ye et al. 2020, arXiv:1912.09729. TRL's `delta` is the same bound, as long as it is above
 * 1 + clipHigh.
 *
 * At a bound itself the unclipped side's derivative is taken.
 *
 * @throws ConfigError if a range is negative, or dualClip is neither 0 nor above 1
 */
export function clipped(options: ClippedOptions): Surrogate {
  const { clipLow, clipHigh, dualClip = 0 } = options;
  checkRanges(clipLow, clipHigh, dualClip);
  return ({ ratios, advantages }) => {
    const losses = new Float64Array(ratios.length);
    const gradRatios = new Float64Array(ratios.length);
    const clips = new Uint8Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      const ratio = ratios[t] as number;
      const advantage = advantages[t] as number;
      if (advantage > 0 && ratio > 1 + clipHigh) {
        losses[t] = -(1 + clipHigh) * advantage;
        clips[t] = clip.high;
      } else if (advantage < 0 && ratio < 1 - clipLow) {
        losses[t] = -(1 - clipLow) * advantage;
        clips[t] = clip.low;
      } else if (advantage < 0 && dualClip > 0 && ratio > dualClip) {
        losses[t] = -dualClip * advantage;
        clips[t] = clip.dual;
      } else {
        losses[t] = -ratio * advantage;
        gradRatios[t] = -advantage;
      }
    }
    return { losses, gradRatios, clips };
  };
}

function checkRanges(clipLow: number, clipHigh: number, dualClip: number): void {
  for (const [name, value] of Object.entries({ clipLow, clipHigh })) {
    if (!(value >= 0)) throw new ConfigError(name, `${name} must be at least 0, is ${value}.`);
  }
  if (dualClip !== 0 && !(dualClip > 1)) {
    throw new ConfigError(
      'dualClip',
      `dualClip must be above 1, or 0 for no dual clipping; it is ${dualClip}.`,
    );
  }
}
