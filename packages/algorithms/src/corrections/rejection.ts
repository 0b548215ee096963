/** Leaves out tokens or sequences on which sampler and trainer differ too much. */
import { ConfigError } from '@saccade/core';
import type { FloatArray, Step } from '../algorithm.ts';
import { forEachSequence, trainedIn } from '../sequences.ts';

/** Level, reduction over the sequence, and estimate of the divergence. */
export const rejectionNames = [
  'token-k1',
  'token-k2',
  'token-k3',
  'sequence-sum-k1',
  'sequence-sum-k2',
  'sequence-sum-k3',
  'sequence-mean-k1',
  'sequence-mean-k2',
  'sequence-mean-k3',
  'sequence-max-k2',
  'sequence-max-k3',
] as const;

export interface RejectionOptions {
  readonly statistic: (typeof rejectionNames)[number];
  /** For k1 a ratio, sampler over trainer; 0 for 1/high. k2 and k3 have no lower bound. */
  readonly low: number;
  /** For k1 a ratio, sampler over trainer; for k2 and k3 a divergence, nats. */
  readonly high: number;
}

/**
 * The mask without the tokens, or without the sequences, whose divergence is out of bounds.
 *
 *   dₜ = oldLogprobsₜ − rolloutLogprobsₜ, held within ±20
 *   k1 = −d, kept if ln(low) ≤ k1 ≤ ln(high);   k2 = ½d², k3 = exp(d) − d − 1, kept if ≤ high
 *   token-k: each token;   sequence-sum-k, -mean-k, -max-k: over the sequence's tokens that train
 *
 * verl's rollout rejection (`token_k1` … `seq_max_k3`); the geometric mean of the ratios, with bounds
 * such as 0.999 to 1.001, is `sequence-mean-k1`. What is rejected also leaves the denominators that
 * are counted from the new mask.
 *
 * @returns [N]
 */
export function rejectionMask(
  { lossMask, sequenceOffsets }: Pick<Step, 'lossMask' | 'sequenceOffsets'>,
  differences: FloatArray,
  options: RejectionOptions,
): Float64Array {
  const { statistic, high } = options;
  if (!(high > 0)) {
    throw new ConfigError('rejectionHigh', `rejectionHigh must be above 0, is ${high}.`);
  }
  const estimate = statistic.slice(-2);
  const low = options.low === 0 ? 1 / high : options.low;
  const divergence = (t: number): number => {
    const d = Math.max(-20, Math.min(20, differences[t] as number));
    if (estimate === 'k1') return -d;
    return estimate === 'k2' ? 0.5 * d * d : Math.exp(d) - 1 - d;
  };
  const isKept = (value: number): boolean =>
    estimate === 'k1' ? value >= Math.log(low) && value <= Math.log(high) : value <= high;
  const kept = Float64Array.from(lossMask);
  if (statistic.startsWith('token')) {
    for (let t = 0; t < kept.length; t++) {
      if (lossMask[t] !== 0 && !isKept(divergence(t))) kept[t] = 0;
    }
    return kept;
  }
  forEachSequence(sequenceOffsets, (_, start, end) => {
    let sum = 0;
    let largest = 0;
    for (let t = start; t < end; t++) {
      if (lossMask[t] === 0) continue;
      const value = divergence(t);
      sum += value;
      largest = Math.max(largest, value);
    }
    const reduced = statistic.includes('-max-')
      ? largest
      : statistic.includes('-sum-')
        ? sum
        : sum / Math.max(trainedIn(lossMask, start, end), 1);
    if (!isKept(reduced)) kept.fill(0, start, end);
  });
  return kept;
}
