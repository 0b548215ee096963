/** Importance weights from the engine that sampled to the trainer, bounded. */
import { ConfigError } from '@saccade/core';
import { choice, flag, quantity } from '@saccade/core/settings';
import type { FloatArray, Step } from '../algorithm.ts';
import { LARGEST } from '../fields.ts';
import { forEachSequence, trainedCounts, trainedIn } from '../sequences.ts';

/** Options of `importanceWeights`. */
export interface ImportanceWeightOptions {
  /** A weight for each token, or the product over its sequence. */
  readonly level: 'token' | 'sequence';
  /** Weights outside the bounds: `truncate` moves them to the bound, `mask` sets them to 0. */
  readonly mode: 'truncate' | 'mask';
  /** Lower bound of a weight. */
  readonly low: number;
  /** Upper bound of a weight; above `low`. */
  readonly high: number;
  /** Log-ratios are clamped to ± this before exp, nats; 0 for no bound. */
  readonly maxLogRatio: number;
  /** Whether weights are divided by their mean over the step. */
  readonly isNormalized: boolean;
  /** Added to the counts in the means; verl has 1e-8. */
  readonly countEpsilon: number;
}

/** The settings of importance weights. */
export const importanceWeightSettings = {
  correctionLevel: choice(['token', 'sequence'], {
    default: 'token',
    about: 'Whether each token or each sequence has a weight from sampler to trainer.',
  }),
  correctionLow: quantity({
    min: 0,
    max: LARGEST,
    default: 0,
    unit: 'ratio',
    about: 'Lower bound of those weights.',
  }),
  correctionHigh: quantity({
    min: 0,
    max: LARGEST,
    default: 2,
    unit: 'ratio',
    about: 'Upper bound of those weights, above the lower one.',
  }),
  correctionMaxLogRatio: quantity({
    min: 0,
    max: 700,
    default: 20,
    unit: 'nats',
    about: 'Their logarithms are held within ± this; 0 disables the bound.',
  }),
  correctionNormalized: flag({
    default: false,
    about: 'Whether those weights are divided by their mean.',
  }),
};

/** @throws ConfigError unless low < high */
export function checkWeightBounds({
  low,
  high,
}: Pick<ImportanceWeightOptions, 'low' | 'high'>): void {
  if (low < high) return;
  throw new ConfigError(
    'correctionHigh',
    `correctionHigh must be above correctionLow (${low}), is ${high}. ` +
      'Equal or crossed bounds leave no weight.',
  );
}

/**
 * Weight of every token: its probability under the trainer over that under the engine that sampled
 * it.
 *
 *   token:  w = exp(dₜ),   dₜ = oldLogprobsₜ − rolloutLogprobsₜ;   sequence:  w = exp(Σ_u mask_u·d_u)
 *   truncate:  clip(w, low, high);   mask:  w where low ≤ w ≤ high, else 0
 *   normalized:  w / mean(w), over tokens or over sequences
 *
 * Truncated importance sampling, Yao et al. 2025 ("Your efficient RL framework secretly brings you
 * off-policy RL training"); masked with two bounds: IcePop, arXiv:2510.18855; both levels are in
 * verl and TRL.
 *
 * @returns [N] constant; 0 where the mask is 0
 */
export function importanceWeights(
  step: Pick<Step, 'lossMask' | 'sequenceOffsets'>,
  differences: FloatArray,
  options: ImportanceWeightOptions,
): Float64Array {
  checkWeightBounds(options);
  const { level, mode, low, high, isNormalized } = options;
  const bound = options.maxLogRatio === 0 ? Number.POSITIVE_INFINITY : options.maxLogRatio;
  const weights = new Float64Array(differences.length);
  const { lossMask, sequenceOffsets } = step;
  const weightOf = (logRatio: number): number => {
    const weight = Math.exp(Math.max(-bound, Math.min(bound, logRatio)));
    if (mode === 'truncate') return Math.max(low, Math.min(high, weight));
    return weight < low || weight > high ? 0 : weight;
  };
  forEachSequence(sequenceOffsets, (_, start, end) => {
    let sum = 0;
    for (let t = start; t < end; t++) sum += differences[t] as number;
    const shared = weightOf(sum);
    for (let t = start; t < end; t++) {
      if (lossMask[t] === 0) continue;
      weights[t] = level === 'token' ? weightOf(differences[t] as number) : shared;
    }
  });
  return isNormalized ? normalized(step, weights, options) : weights;
}

function normalized(
  { lossMask, sequenceOffsets }: Pick<Step, 'lossMask' | 'sequenceOffsets'>,
  weights: Float64Array,
  { level, countEpsilon }: ImportanceWeightOptions,
): Float64Array {
  let mean = 0;
  if (level === 'token') {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    mean = sum / (trainedIn(lossMask, 0, lossMask.length) + countEpsilon);
  } else {
    const counts = trainedCounts(lossMask, sequenceOffsets);
    let sequences = 0;
    forEachSequence(sequenceOffsets, (s, start, end) => {
      const count = counts[s] as number;
      if (count === 0) return;
      sequences++;
      let sum = 0;
      for (let t = start; t < end; t++) sum += weights[t] as number;
      mean += sum / (count + countEpsilon);
    });
    mean /= Math.max(sequences, 1);
  }
  return mean > 1e-8 ? weights.map((weight) => weight / mean) : weights;
}
