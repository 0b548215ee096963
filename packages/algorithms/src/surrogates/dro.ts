/** The log-probability with a quadratic pull to the old policy. */
import { quantity } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { owning } from '../unit.ts';

/**
 * Offline-capable loss: a squared log-ratio takes the place of clipping.
 *
 *   ℓ = −(A·logprob − ½·quadraticCoefficient·(logprob − oldLogprob)²)
 *
 * DRO, arXiv:2405.19107, token by token as in verl's and Tinker's `dro`.
 */
export const droSurrogate = owning(
  {
    quadraticCoefficient: quantity({
      min: 0,
      max: LARGEST,
      default: 0.1,
      unit: 'factor',
      about: 'β of the squared log-ratio.',
    }),
  },
  makeDro,
);

function makeDro(options: { readonly quadraticCoefficient: number }): Surrogate {
  const { quadraticCoefficient: beta } = options;
  return ({ advantages, logprobs, oldLogprobs }) => {
    const losses = new Float64Array(logprobs.length);
    const gradLogprobs = new Float64Array(logprobs.length);
    for (let t = 0; t < losses.length; t++) {
      const advantage = advantages[t] as number;
      const difference = (logprobs[t] as number) - (oldLogprobs[t] as number);
      losses[t] = -advantage * (logprobs[t] as number) + 0.5 * beta * difference * difference;
      gradLogprobs[t] = -advantage + beta * difference;
    }
    const gradRatios = new Float64Array(losses.length);
    return { losses, gradRatios, gradLogprobs, clips: new Uint8Array(losses.length) };
  };
}
