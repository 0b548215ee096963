import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { correctionOf } from '../correction.ts';
import { numbers, smallStep } from '../step.fixture.ts';
import { type ImportanceWeightOptions, importanceWeights } from './importance-weights.ts';
import { type RejectionOptions, rejectionMask } from './rejection.ts';

const step = smallStep({ lossMask: Float64Array.of(1, 0, 1, 1, 1, 1, 1, 1) });
/** oldLogprobs − rolloutLogprobs, as logarithms of ratios. */
const differences = Float64Array.of(3, 99, 1, 2, 0.4, 0.5, 1, 1).map((ratio, t) =>
  t === 1 ? 0 : Math.log(ratio),
);
const options: ImportanceWeightOptions = {
  level: 'token',
  mode: 'truncate',
  low: 0,
  high: 2,
  maxLogRatio: 20,
  isNormalized: false,
  countEpsilon: 0,
};

describe('importance weights', () => {
  const weigh = (changes: Partial<ImportanceWeightOptions>): number[] =>
    numbers(importanceWeights(step, differences, { ...options, ...changes }));

  it('truncated: at most the bound, and 0 behind the mask', () => {
    expect(weigh({})).toEqual([2, 0, 1, 2, 0.4, 0.5, 1, 1]);
    expect(weigh({ low: 0.45 })).toEqual([2, 0, 1, 2, 0.45, 0.5, 1, 1]);
  });

  it('masked between two bounds: 0 outside of them, untouched inside', () => {
    expect(weigh({ mode: 'mask', low: 0.5, high: 2 })).toEqual([0, 0, 1, 2, 0, 0.5, 1, 1]);
  });

  it('of sequences: the product over the tokens that train', () => {
    expect(weigh({ level: 'sequence', high: 2.5 })).toEqual([2.5, 0, 2, 2, 0.2, 0.2, 1, 1]);
  });

  it('normalized: their mean over tokens, or over sequences, is 1', () => {
    const tokens = weigh({ isNormalized: true });
    expect(tokens.reduce((sum, weight) => sum + weight, 0) / 7).toBeCloseTo(1, 11);
    const sequences = weigh({ level: 'sequence', isNormalized: true });
    expect([0, 2, 4, 6].reduce((sum, t) => sum + sequences[t], 0) / 4).toBeCloseTo(1, 11);
  });
});

describe('rejection', () => {
  const keep = (changes: Partial<RejectionOptions>): string =>
    rejectionMask(step, differences, { statistic: 'token-k1', low: 0, high: 2, ...changes }).join(
      '',
    );

  it('by token: a ratio out of [1/high, high], or a divergence above high', () => {
    expect(keep({})).toBe('00110111');
    // k1 bounds the sampler's probability over the trainer's: 1/3 for the first token.
    expect(keep({ low: 0.1, high: 2.6 })).toBe('10111111');
    // ½·ln²: 0.60, 0, 0.24, 0.42, 0.24, 0, 0.
    expect(keep({ statistic: 'token-k2', high: 0.5 })).toBe('00111111');
  });

  it('by sequence: sum, mean or largest over its tokens takes all of them', () => {
    expect(keep({ statistic: 'sequence-sum-k1', high: 2.01 })).toBe('00110011');
    expect(keep({ statistic: 'sequence-mean-k1', high: 1.5 })).toBe('00110011');
    expect(keep({ statistic: 'sequence-max-k2', high: 0.3 })).toBe('00110011');
    expect(keep({ statistic: 'sequence-max-k3', high: 10 })).toBe('10111111');
  });

  it('refuses a bound of 0', () => {
    expect(() => keep({ high: 0 })).toThrow(ConfigError);
  });
});

describe('the correction of a step', () => {
  const rolloutLogprobs = new Float64Array(8).fill(-1);
  const oldLogprobs = rolloutLogprobs.map((value, t) => value + (differences[t] ?? 0));

  it('tells how far sampler and trainer are apart', () => {
    const { metrics } = correctionOf({ weights: options })({
      ...step,
      oldLogprobs,
      rolloutLogprobs,
    });
    // Weights 2, 1, 2, 0.4, 0.5, 1, 1: sum 7.9, squares 11.41.
    expect(metrics['sampling/importance_sampling_ratio/mean']).toBeCloseTo(7.9 / 7, 12);
    expect(metrics['sampling/importance_sampling_ratio/max']).toBeCloseTo(2, 12);
    expect(metrics['sampling/ess']).toBeCloseTo((7.9 * 7.9) / (7 * 11.41), 12);
    expect(metrics['sampling/sampling_logp_difference/max']).toBeCloseTo(Math.log(3), 12);
    expect(metrics['sampling/rejected']).toBe(0);
  });

  it('refuses a log-prob that the engine did not give', () => {
    const unknown = rolloutLogprobs.slice();
    unknown[0] = Number.NaN;
    const correct = correctionOf({ weights: options });
    expect(() => correct({ ...step, oldLogprobs, rolloutLogprobs: unknown })).toThrow(
      /rolloutLogprobs\[0\] is NaN. Where the engine gave none, pass oldLogprobs/,
    );
  });

  it('rejects from the mask and leaves the weights', () => {
    const rejection: RejectionOptions = { statistic: 'token-k1', low: 0, high: 2.01 };
    const { lossMask, metrics } = correctionOf({ rejection })({
      ...step,
      oldLogprobs,
      rolloutLogprobs,
    });
    expect(lossMask.join('')).toBe('00110111');
    expect(metrics['sampling/rejected']).toBeCloseTo(2 / 7, 14);
  });

  it('names the log-probs that are missing', () => {
    expect(() => correctionOf({})({ ...step, oldLogprobs })).toThrow(/needs rolloutLogprobs/);
    expect(() => correctionOf({})({ ...step, rolloutLogprobs })).toThrow(/needs oldLogprobs/);
  });
});
