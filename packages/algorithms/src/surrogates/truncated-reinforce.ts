/** Weighs the log-probability with a truncated ratio that is constant. */
import { quantity } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { clip } from '../marks.ts';
import { owning } from '../unit.ts';

/**
 * Truncated importance sampling of the policy gradient.
 *
 *   ℓ = −sg(min(ρ, ratioCap))·A·logprob
 *
 * Truncated weights: Ionides 2008, "Truncated importance sampling"; verl's `bypass_mode` with
 * `loss_type: reinforce`, whose threshold is 2.
 */
export const truncatedReinforce = owning(
  {
    ratioCap: quantity({
      min: 1e-6,
      max: LARGEST,
      default: 2,
      unit: 'ratio',
      about: 'Upper bound of the constant weights.',
    }),
  },
  makeTruncatedReinforce,
);

function makeTruncatedReinforce({ ratioCap }: { readonly ratioCap: number }): Surrogate {
  return ({ ratios, advantages, logprobs }) => {
    const losses = new Float64Array(ratios.length);
    const gradLogprobs = new Float64Array(ratios.length);
    const clips = new Uint8Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      const ratio = ratios[t] as number;
      const weight = Math.min(ratio, ratioCap) * (advantages[t] as number);
      losses[t] = -weight * (logprobs[t] as number);
      gradLogprobs[t] = -weight;
      if (ratio > ratioCap) clips[t] = clip.high;
    }
    return { losses, gradRatios: new Float64Array(ratios.length), gradLogprobs, clips };
  };
}
