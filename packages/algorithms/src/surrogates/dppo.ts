/** A trust region on the divergence of the two distributions at a token. */
import { choice, quantity } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { clip } from '../marks.ts';
import { owning } from '../unit.ts';

/** Options of `dppoSurrogate`. */
export interface DppoOptions {
  /** Largest divergence where A ≤ 0. */
  readonly clipLow: number;
  /** Largest divergence where A > 0. */
  readonly clipHigh: number;
  /** Upper bound of the constant weight sg(ρ). */
  readonly ratioCap: number;
  /** The divergence that bounds the trust region; `kl` is in nats. */
  readonly divergence: 'total-variation' | 'kl';
}

// verl's guard of the logarithm's arguments.
const TINY = 1e-8;

/**
 * Keeps a token only while it is inside a trust region or moves back toward it. The region is
 * measured between the token's probability π and that of all other tokens together.
 *
 *   ℓ = −A·sg(min(ρ, ratioCap))·logprob·keep
 *   total-variation:  keep = π − π_old ≤ clipHigh if A > 0, else π − π_old ≥ −clipLow
 *   kl:  D = π_old·ln(π_old/π) + (1−π_old)·ln((1−π_old)/(1−π))
 *        keep = D ≤ clipHigh or π ≤ π_old if A > 0, else D ≤ clipLow or π ≥ π_old
 *
 * DPPO, arXiv:2602.04879 (binary TV, binary KL); verl's `dppo_tv` and `dppo_kl`.
 */
export const dppoSurrogate = owning(
  {
    clipLow: quantity({
      min: 0,
      max: LARGEST,
      default: 0.2,
      unit: 'divergence',
      about: 'Largest divergence where A ≤ 0.',
    }),
    clipHigh: quantity({
      min: 0,
      max: LARGEST,
      default: 0.2,
      unit: 'divergence',
      about: 'Largest divergence where A > 0.',
    }),
    ratioCap: quantity({
      min: 1e-6,
      max: LARGEST,
      default: 20,
      unit: 'ratio',
      about: 'Upper bound of the constant weights.',
    }),
    divergence: choice(['total-variation', 'kl'], {
      default: 'total-variation',
      about: 'The divergence that bounds the trust region.',
    }),
  },
  makeDppo,
);

function makeDppo(options: DppoOptions): Surrogate {
  const { clipLow, clipHigh, ratioCap, divergence } = options;
  const isKept = (advantage: number, logprob: number, oldLogprob: number): boolean => {
    const [now, old] = [Math.exp(logprob), Math.exp(oldLogprob)];
    if (divergence === 'total-variation') {
      return advantage > 0 ? now - old <= clipHigh : now - old >= -clipLow;
    }
    const others = Math.max(1 - old, 0);
    const kl =
      old * (oldLogprob - logprob) +
      others * Math.log((others + TINY) / (Math.max(1 - now, 0) + TINY));
    return advantage > 0 ? kl <= clipHigh || now <= old : kl <= clipLow || now >= old;
  };
  return ({ ratios, advantages, logprobs, oldLogprobs }) => {
    const losses = new Float64Array(ratios.length);
    const gradLogprobs = new Float64Array(ratios.length);
    const clips = new Uint8Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      const advantage = advantages[t] as number;
      const logprob = logprobs[t] as number;
      if (!isKept(advantage, logprob, oldLogprobs[t] as number)) {
        clips[t] = clip.region;
        continue;
      }
      const weight = Math.min(ratios[t] as number, ratioCap) * advantage;
      losses[t] = -weight * logprob;
      gradLogprobs[t] = -weight;
    }
    return { losses, gradRatios: new Float64Array(ratios.length), gradLogprobs, clips };
  };
}
