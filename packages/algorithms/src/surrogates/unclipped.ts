/** The surrogate of importance sampling, without a bound. */
import type { Surrogate } from '../choices.ts';
import { product } from '../product.ts';

/**
 * Importance-sampled policy gradient.
 *
 *   ℓ = −ρ·A
 *
 * Schulman et al. 2017, arXiv:1707.06347, eq. 6; where the ratio has bounds of its own (GMPO), or
 * none are wanted.
 */
export function unclipped(): Surrogate {
  return ({ ratios, advantages }) => ({
    losses: ratios.map((ratio, t) => product(-ratio, advantages[t] as number)),
    gradRatios: Float64Array.from(advantages, (advantage) => -advantage),
    clips: new Uint8Array(ratios.length),
  });
}
