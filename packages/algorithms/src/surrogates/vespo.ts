/** Weighs log-probabilities with a soft, constant function of the sequence's ratio. */
import { quantity } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { owning } from '../unit.ts';

/** Options of `vespoSurrogate`: shape k and rate λ of the weight, by the advantage's sign. */
export interface VespoOptions {
  /** k where A ≥ 0. */
  readonly shapePositive: number;
  /** λ where A ≥ 0. */
  readonly ratePositive: number;
  /** k where A < 0. */
  readonly shapeNegative: number;
  /** λ where A < 0. */
  readonly rateNegative: number;
}

const shape = (about: string, value: number) =>
  quantity({ min: 0, max: 1e6, default: value, unit: 'exponent', about });

const rate = (about: string, value: number) =>
  quantity({ min: 1e-4, max: 1e6, default: value, unit: '1/ratio', about });

/**
 * The log-probability with a Gamma-shaped weight of the sequence's ratio, constant for the
 * gradient.
 *
 *   φ(ρ) = exp(λ)·ρ^k·exp(−λ·ρ),   φ(1) = 1;   ℓ = −sg(φ(ρ))·A·logprob
 *
 * VESPO, arXiv:2602.10693; TRL's `vespo`. ρ comes from the ratio `corrected-sequence`.
 */
export const vespoSurrogate = owning(
  {
    shapePositive: shape('k of the weight where A ≥ 0.', 2),
    ratePositive: rate('λ of the weight where A ≥ 0.', 3),
    shapeNegative: shape('k of the weight where A < 0.', 3),
    rateNegative: rate('λ of the weight where A < 0.', 2),
  },
  makeVespo,
);

function makeVespo(options: VespoOptions): Surrogate {
  return ({ ratios, advantages, logprobs }) => {
    const losses = new Float64Array(ratios.length);
    const gradLogprobs = new Float64Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      const ratio = ratios[t] as number;
      const advantage = advantages[t] as number;
      const isPositive = advantage >= 0;
      const k = isPositive ? options.shapePositive : options.shapeNegative;
      const lambda = isPositive ? options.ratePositive : options.rateNegative;
      // In logarithms, so that ρ^k does not overflow; an infinite ratio has weight 0.
      const power = k === 0 ? 0 : k * Math.log(ratio);
      const weight =
        ratio === Number.POSITIVE_INFINITY ? 0 : Math.exp(lambda + power - lambda * ratio);
      losses[t] = -weight * advantage * (logprobs[t] as number);
      gradLogprobs[t] = -weight * advantage;
    }
    const gradRatios = new Float64Array(ratios.length);
    return { losses, gradRatios, gradLogprobs, clips: new Uint8Array(ratios.length) };
  };
}
