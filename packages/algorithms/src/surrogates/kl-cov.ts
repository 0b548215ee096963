/** Unclipped, with a penalty on the few tokens that cost most entropy. */
import { quantity } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { mark } from '../marks.ts';
import { product } from '../product.ts';
import { owning } from '../unit.ts';

/**
 * Unclipped surrogate; tokens marked as of highest covariance are pulled back to the old policy.
 *
 *   ℓ = −ρ·A + covarianceCoefficient·|logprob − oldLogprob|·[marked]
 *
 * KL-Cov of "The Entropy Mechanism", arXiv:2505.22617; verl's `kl_cov`. The marks come from
 * the selector `highestCovariance`.
 */
export const klCovSurrogate = owning(
  {
    covarianceCoefficient: quantity({
      min: 0,
      max: LARGEST,
      default: 1,
      unit: 'factor',
      about: 'Weight of the pull on the selected tokens.',
    }),
  },
  makeKlCov,
);

function makeKlCov(options: { readonly covarianceCoefficient: number }): Surrogate {
  const { covarianceCoefficient } = options;
  return ({ ratios, advantages, logprobs, oldLogprobs, marks }) => {
    const losses = new Float64Array(ratios.length);
    const gradRatios = new Float64Array(ratios.length);
    const gradLogprobs = new Float64Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      losses[t] = product(-(ratios[t] as number), advantages[t] as number);
      gradRatios[t] = -(advantages[t] as number);
      if (((marks?.[t] ?? 0) & mark.penalized) === 0) continue;
      const difference = (logprobs[t] as number) - (oldLogprobs[t] as number);
      losses[t] = (losses[t] as number) + covarianceCoefficient * Math.abs(difference);
      gradLogprobs[t] = covarianceCoefficient * Math.sign(difference);
    }
    return { losses, gradRatios, gradLogprobs, clips: new Uint8Array(ratios.length) };
  };
}
