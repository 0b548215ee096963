/** The geometric mean of ratios that are clipped token by token. */

import { quantity } from '@saccade/core/settings';
import type { TokenBatch } from '../algorithm.ts';
import type { Ratio } from '../choices.ts';
import { LARGEST, lengthEpsilon } from '../fields.ts';
import { clip } from '../marks.ts';
import { product } from '../product.ts';
import { forEachSequence, trainedIn } from '../sequences.ts';
import { owning } from '../unit.ts';

export interface GeometricMeanOptions {
  /** Log-ratios count as at least −clipLow where A < 0. */
  readonly clipLow: number;
  /** Log-ratios count as at most clipHigh where A > 0. */
  readonly clipHigh: number;
  /** Added to the length: verl has 1e-8, the paper 0. */
  readonly lengthEpsilon?: number;
}

/**
 * Geometric mean over the sequence of its tokens' ratios, each clipped in log space on the side
 * where its advantage would push it further.
 *
 *   dₜ = logprobsₜ − oldLogprobsₜ;   cₜ = min(dₜ, clipHigh) if A > 0, max(dₜ, −clipLow) if A < 0
 *   ρₜ = exp(Σ_u mask_u·c_u / |y|)
 *
 * GMPO, arXiv:2507.20673. A token that is clipped has no gradient, the others of its sequence
 * keep theirs. The advantages must be constant within a sequence. Token weights become their
 * geometric mean over the sequence, with 1e-10 added to each as in verl.
 */
export const geometricMeanRatio = Object.assign(owning({ lengthEpsilon }, makeGeometricMeanRatio), {
  requires: ['clipLow', 'clipHigh'] as const,
});

/** The clip of an algorithm whose ratio is the geometric mean. */
export const logClipRange = {
  clipLow: quantity({
    min: 0,
    max: LARGEST,
    default: 0.4,
    unit: 'nats',
    about: 'ε_low: range of log-ratios below 0.',
  }),
  clipHigh: quantity({
    min: 0,
    max: LARGEST,
    default: 0.4,
    unit: 'nats',
    about: 'ε_high: range of log-ratios above 0.',
  }),
};

function makeGeometricMeanRatio(options: GeometricMeanOptions): Ratio {
  const { clipLow, clipHigh, lengthEpsilon: epsilon = 0 } = options;
  const clipOf = ({ logprobs, oldLogprobs, advantages }: TokenBatch, t: number): number => {
    const difference = (logprobs[t] as number) - (oldLogprobs[t] as number);
    const advantage = advantages[t] as number;
    if (advantage > 0 && difference > clipHigh) return clip.high;
    return advantage < 0 && difference < -clipLow ? clip.low : clip.none;
  };
  return {
    forward: (batch) => {
      const { logprobs, oldLogprobs, lossMask, sequenceOffsets } = batch;
      const ratios = new Float64Array(logprobs.length);
      forEachSequence(sequenceOffsets, (_, start, end) => {
        const length = trainedIn(lossMask, start, end) + epsilon;
        let sum = 0;
        for (let t = start; t < end; t++) {
          if (lossMask[t] === 0) continue;
          const held = clipOf(batch, t);
          if (held === clip.high) sum += clipHigh;
          else if (held === clip.low) sum -= clipLow;
          else sum += (logprobs[t] as number) - (oldLogprobs[t] as number);
        }
        ratios.fill(length > 0 ? Math.exp(sum / length) : 1, start, end);
      });
      return ratios;
    },
    backward: (batch, ratios, gradRatios) => {
      const { lossMask, sequenceOffsets } = batch;
      const grad = new Float64Array(ratios.length);
      forEachSequence(sequenceOffsets, (_, start, end) => {
        const length = trainedIn(lossMask, start, end) + epsilon;
        let sum = 0;
        for (let t = start; t < end; t++) sum += gradRatios[t] as number;
        for (let t = start; t < end; t++) {
          if (lossMask[t] === 0 || clipOf(batch, t) !== clip.none) continue;
          grad[t] = product(ratios[t] as number, sum / length);
        }
      });
      return grad;
    },
    weights: ({ tokenWeights, lossMask, sequenceOffsets }) => {
      const weights = new Float64Array(lossMask.length).fill(1);
      if (tokenWeights === undefined) return weights;
      forEachSequence(sequenceOffsets, (_, start, end) => {
        const length = trainedIn(lossMask, start, end) + epsilon;
        let sum = 0;
        for (let t = start; t < end; t++) {
          if (lossMask[t] !== 0) sum += Math.log((tokenWeights[t] as number) + 1e-10);
        }
        weights.fill(length > 0 ? Math.exp(sum / length) : 1, start, end);
      });
      return weights;
    },
    clips: (batch) =>
      Uint8Array.from(batch.lossMask, (mask, t) => (mask === 0 ? clip.none : clipOf(batch, t))),
  };
}
