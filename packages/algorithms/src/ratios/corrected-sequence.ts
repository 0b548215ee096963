/** The sequence's ratio to the engine that sampled: the correction's weights are part of it. */
import type { TokenBatch } from '../algorithm.ts';
import type { Ratio } from '../choices.ts';
import { product } from '../product.ts';
import { forEachSequence } from '../sequences.ts';

// TRL's bounds: of each token's log-ratio, and of the sequence's.
const TOKEN_BOUND = 20;
const LOWEST = Math.log(1e-8);

/**
 * Importance ratio of the whole sequence, times the correction's weights of its tokens.
 *
 *   ln ρ = clamp(Σ_u mask_u·(clamp(logprobs_u − oldLogprobs_u, ±20) + clamp(ln w_u, ln 1e-8, 20)),
 *                ln 1e-8, 20)
 *
 * VESPO, arXiv:2602.10693, with TRL's bounds; w are the token weights of `correct`, which are folded
 * into the ratio and so do not weigh the loss again. Outside of a bound the gradient is 0.
 */
export function correctedSequenceRatio(): Ratio {
  return {
    forward: (batch) => {
      const ratios = new Float64Array(batch.lossMask.length);
      forEachSequence(batch.sequenceOffsets, (_, start, end) => {
        ratios.fill(Math.exp(held(logRatio(batch, start, end))), start, end);
      });
      return ratios;
    },
    backward: (batch, ratios, gradRatios) => {
      const { logprobs, oldLogprobs, lossMask } = batch;
      const grad = new Float64Array(ratios.length);
      forEachSequence(batch.sequenceOffsets, (_, start, end) => {
        const total = logRatio(batch, start, end);
        if (held(total) !== total) return;
        let sum = 0;
        for (let t = start; t < end; t++) sum += gradRatios[t] as number;
        for (let t = start; t < end; t++) {
          if (lossMask[t] === 0) continue;
          const difference = (logprobs[t] as number) - (oldLogprobs[t] as number);
          if (Math.abs(difference) <= TOKEN_BOUND) grad[t] = product(ratios[t] as number, sum);
        }
      });
      return grad;
    },
    weights: ({ lossMask }) => Float64Array.from(lossMask, (mask) => (mask === 0 ? 0 : 1)),
  };
}

function logRatio(batch: TokenBatch, start: number, end: number): number {
  const { logprobs, oldLogprobs, lossMask, tokenWeights } = batch;
  let sum = 0;
  for (let t = start; t < end; t++) {
    if (lossMask[t] === 0) continue;
    const difference = (logprobs[t] as number) - (oldLogprobs[t] as number);
    sum += Math.max(-TOKEN_BOUND, Math.min(TOKEN_BOUND, difference));
    if (tokenWeights) sum += held(Math.log(tokenWeights[t] as number));
  }
  return sum;
}

function held(logarithm: number): number {
  return Math.max(LOWEST, Math.min(TOKEN_BOUND, logarithm));
}
