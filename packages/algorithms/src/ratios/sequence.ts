/** One importance ratio for a whole sequence. */
import type { Ratio } from '../choices.ts';
import { maxLogRatio as maxLogRatioField } from '../fields.ts';
import { product } from '../product.ts';
import { forEachSequence, trainedIn } from '../sequences.ts';
import { owning } from '../unit.ts';

/** Options of a ratio per sequence. */
export interface SequenceRatioOptions {
  /** `mean`: the geometric mean of the tokens' ratios; `sum`: their product. Default `mean`. */
  readonly reduce?: 'mean' | 'sum';
  /** Upper bound of the ratio's logarithm, nats; 0 for no bound. */
  readonly maxLogRatio?: number;
}

/**
 * Importance ratio of the sequence, normalized by its length, with its true gradient.
 *
 *   ρₜ = s = exp(Σ_u mask_u·(logprobs_u − oldLogprobs_u) / |y|),   |y| = Σ_u mask_u
 *   ∂L/∂logprobs_u = mask_u/|y| · s · Σₜ ∂L/∂ρₜ
 *
 * GSPO, arXiv:2507.18071; TRL's `importance_sampling_level: sequence`.
 */
export const sequenceRatio = owning({ maxLogRatio: maxLogRatioField }, makeSequenceRatio);

function makeSequenceRatio(options: SequenceRatioOptions = {}): Ratio {
  const { reduce = 'mean', maxLogRatio = 0 } = options;
  const bound = maxLogRatio === 0 ? Number.POSITIVE_INFINITY : maxLogRatio;
  return {
    forward: (batch) => {
      const ratios = new Float64Array(batch.logprobs.length);
      const { logprobs, oldLogprobs, lossMask, sequenceOffsets } = batch;
      forEachSequence(sequenceOffsets, (_, start, end) => {
        let sum = 0;
        for (let t = start; t < end; t++) {
          // Masked entries may hold anything, even NaN.
          if (lossMask[t] === 0) continue;
          sum += (lossMask[t] as number) * ((logprobs[t] as number) - (oldLogprobs[t] as number));
        }
        const length = reduce === 'sum' ? 1 : Math.max(trainedIn(lossMask, start, end), 1);
        ratios.fill(Math.exp(Math.min(sum / length, bound)), start, end);
      });
      return ratios;
    },
    backward: ({ lossMask, sequenceOffsets }, ratios, gradRatios) => {
      const grad = new Float64Array(ratios.length);
      forEachSequence(sequenceOffsets, (_, start, end) => {
        const ratio = ratios[start] ?? 0;
        if (ratio >= Math.exp(bound)) return;
        let sum = 0;
        for (let t = start; t < end; t++) sum += gradRatios[t] as number;
        const length = reduce === 'sum' ? 1 : Math.max(trainedIn(lossMask, start, end), 1);
        for (let t = start; t < end; t++) {
          grad[t] = product(ratio, ((lossMask[t] as number) / length) * sum);
        }
      });
      return grad;
    },
  };
}

/**
 * The sequence's ratio itself, without the length.
 *
 *   ρₜ = exp(Σ_u mask_u·(logprobs_u − oldLogprobs_u))
 *
 * RLOO, arXiv:2402.14740, takes the whole answer as one action; TRL's RLOOTrainer.
 */
export const sequenceRatioSum = owning(
  { maxLogRatio: maxLogRatioField },
  (options: { readonly maxLogRatio?: number } = {}): Ratio =>
    makeSequenceRatio({ ...options, reduce: 'sum' }),
);

/**
 * The value of the sequence's ratio with the gradient of each token's own ratio.
 *
 *   ρₜ = sg(s)·exp(logprobsₜ − sg(logprobsₜ))
 *   ∂L/∂logprobsₜ = s · ∂L/∂ρₜ
 *
 * GSPO-token, arXiv:2507.18071, equal to GSPO where a sequence has one advantage; verl's
 * `gspo`, which bounds log s at 10.
 */
export const sequenceRatioStraightThrough = owning(
  { maxLogRatio: maxLogRatioField },
  makeStraightThroughRatio,
);

function makeStraightThroughRatio(options: { readonly maxLogRatio?: number } = {}): Ratio {
  const { maxLogRatio = 10 } = options;
  const value = makeSequenceRatio({ maxLogRatio });
  const limit = maxLogRatio === 0 ? Number.POSITIVE_INFINITY : Math.exp(maxLogRatio);
  return {
    forward: value.forward,
    backward: (_, ratios, gradRatios) =>
      ratios.map((ratio, t) => (ratio < limit ? product(ratio, gradRatios[t] as number) : 0)),
  };
}
