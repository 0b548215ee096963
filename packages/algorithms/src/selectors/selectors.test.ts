import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { TokenBatch } from '../algorithm.ts';
import { grpo } from '../algorithms/grpo.ts';
import { countGlobally } from '../counts.ts';
import { mark } from '../marks.ts';
import { clipCovariance } from './clip-covariance.ts';
import { covarianceOf } from './covariance.ts';
import { highestCovariance } from './highest-covariance.ts';
import { topEntropy } from './top-entropy.ts';

// Mean advantage 0, mean log-prob −2: covariances 1, 1, 0, 2, 2 and one masked token.
const batch: TokenBatch = {
  logprobs: Float64Array.of(-1, -3, -2, -3, -1, Number.NaN),
  oldLogprobs: Float64Array.of(-1, -3, -2, -3, -1, Number.NaN),
  advantages: Float64Array.of(1, -1, 0, -2, 2, Number.NaN),
  lossMask: Float64Array.of(1, 1, 1, 1, 1, 0),
  sequenceOffsets: Int32Array.of(0, 6),
  entropy: Float64Array.of(0.1, 0.9, 0.4, 0.6, 0.2, Number.NaN),
};

function marksBy(
  selector: (minibatch: TokenBatch, marks: Uint8Array) => void,
  of = batch,
): number[] {
  const marks = new Uint8Array(of.lossMask.length);
  selector(of, marks);
  return [...marks];
}

describe('selectors', () => {
  it('covariance: the product of what is above the means', () => {
    expect([...covarianceOf(batch, 0).covariances]).toEqual([1, 1, 0, 2, 2, 0]);
  });

  it('highest covariance: the top share, at least one', () => {
    const p = mark.penalized;
    expect(marksBy(highestCovariance({ covarianceShare: 0.4 }))).toEqual([0, 0, 0, p, p, 0]);
    expect(marksBy(highestCovariance({ covarianceShare: 0 }))).toEqual([0, 0, 0, p, 0, 0]);
  });

  it('clip-cov: a few of those between the bounds, the same for a seed, others for another', () => {
    const options = { covarianceLow: 0.5, covarianceHigh: 5, clipLow: 0.2, clipHigh: 0.2 };
    const marked = (covarianceSeed: number, covarianceShare = 0.4): number[] =>
      marksBy(clipCovariance({ ...options, covarianceSeed, covarianceShare }));
    expect(marked(1).filter((bits) => bits === mark.detached)).toHaveLength(2);
    expect(marked(1)).toEqual(marked(1));
    const draws = new Set(Array.from({ length: 20 }, (_, seed) => marked(seed).join()));
    expect(draws.size).toBeGreaterThan(2);
    expect(marked(1, 1)).toEqual([2, 2, 0, 2, 2, 0]);
    const narrow = { ...options, covarianceHigh: 1.5, covarianceSeed: 0, covarianceShare: 1 };
    expect(marksBy(clipCovariance(narrow))).toEqual([2, 2, 0, 0, 0, 0]);
  });

  it('clip-cov passes over what PPO clips', () => {
    const oldLogprobs = Float64Array.of(-1, -3, -2, -3, -2, 0);
    const options = { covarianceLow: 0.5, covarianceHigh: 5, clipLow: 0.2, clipHigh: 0.2 };
    const selector = clipCovariance({ ...options, covarianceSeed: 0, covarianceShare: 1 });
    expect(marksBy(selector, { ...batch, oldLogprobs })).toEqual([2, 2, 0, 2, 0, 0]);
  });

  it('top entropy: the quantile is interpolated, what lies on it is kept', () => {
    const low = mark.lowEntropy;
    // torch.quantile of the five entropies at 0.6 is 0.48; the median is 0.4 itself.
    expect(marksBy(topEntropy({ topEntropyShare: 0.4 }))).toEqual([low, 0, low, 0, low, 0]);
    expect(marksBy(topEntropy({ topEntropyShare: 0.5 }))).toEqual([low, 0, 0, 0, low, 0]);
    const { entropy: _, ...bare } = batch;
    expect(() => marksBy(topEntropy({ topEntropyShare: 0.4 }), bare)).toThrow(ConfigError);
  });

  it('a loss that selects refuses a batch without marks', () => {
    const counts = countGlobally([batch]);
    expect(() => grpo.with({ topEntropyShare: 0.4 }).loss(batch, counts)).toThrow(
      /Pass the marks that select gave for the whole minibatch/,
    );
  });
});
