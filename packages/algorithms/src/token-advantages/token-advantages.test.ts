import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { numbers, smallStep } from '../step.fixture.ts';
import { batchShare } from './batch-share.ts';
import { batchStd } from './batch-std.ts';
import { broadcast } from './broadcast.ts';
import { gae } from './gae.ts';
import { optimalBaseline } from './optimal-baseline.ts';
import { returnToGo } from './return-to-go.ts';
import { standardized } from './standardized.ts';
import { whitened } from './whitened.ts';

const holes = Float64Array.of(1, 0, 1, 1, 0, 1, 1, 1);

describe('token advantages', () => {
  it('broadcast to the tokens that train', () => {
    const { advantages } = broadcast()(smallStep({ lossMask: holes }));
    expect([...advantages]).toEqual([1, 0, -1, -1, 0, 0.5, -0.5, -0.5]);
  });

  it('batch std: one scale for all groups, from the rewards', () => {
    // The standard deviation of 1, 0, 1, 0 with denominator 3 is √(1/3).
    const { advantages } = batchStd({ stdEpsilon: 0 })(smallStep());
    expect(numbers(advantages)).toEqual(
      numbers([1, 1, -1, -1, 0.5, 0.5, -0.5, -0.5].map((value) => value * Math.sqrt(3))),
    );
  });

  it('standardized over sequences, whitened over tokens: mean 0, variance 1', () => {
    const step = smallStep({ lossMask: holes });
    const trained = [...whitened()(step).advantages].filter((_, t) => holes[t] === 1);
    const mean = trained.reduce((sum, value) => sum + value, 0) / trained.length;
    const variance = trained.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 5;
    expect(mean).toBeCloseTo(0, 14);
    expect(variance).toBeCloseTo(1, 7);
    const perSequence = [0, 2, 4, 6].map(
      (t) => standardized({ stdEpsilon: 0 })(smallStep()).advantages[t] ?? 0,
    );
    expect(perSequence.reduce((sum, value) => sum + value * value, 0) / 3).toBeCloseTo(1, 14);
  });

  it('whitening a single token, or equal ones, gives 0', () => {
    const one = smallStep({ lossMask: Float64Array.of(0, 0, 0, 0, 0, 0, 0, 1) });
    expect([...whitened()(one).advantages]).toEqual(new Array(8).fill(0));
    const equal = smallStep({ sequenceAdvantages: new Float64Array(4).fill(1.1) });
    expect([...whitened()(equal).advantages]).toEqual(new Array(8).fill(0));
  });

  it('batch share: two of four trajectories have a reward, so all count double', () => {
    const { advantages } = batchShare()(smallStep());
    expect([...advantages]).toEqual([2, 2, -2, -2, 1, 1, -1, -1]);
    const none = smallStep({ rewards: new Float64Array(4) });
    expect(batchShare()(none).advantages[0]).toBe(4);
  });

  it('return to go: discounts per token that trains, and jumps over the others', () => {
    const step = smallStep({
      lossMask: holes,
      tokenRewards: Float64Array.of(1, 9, 1, 2, 9, 3, 0, 4),
    });
    const { returns } = returnToGo({ gamma: 0.5 })(step);
    expect([...(returns ?? [])]).toEqual([1, 0, 2, 2, 0, 3, 2, 4]);
  });

  it('without token rewards the reward comes at the last token that trains', () => {
    const mask = Float64Array.of(1, 0, 1, 1, 0, 0, 1, 1);
    const { returns } = returnToGo()(
      smallStep({ lossMask: mask, rewards: Float64Array.of(5, 6, 7, 8) }),
    );
    expect([...(returns ?? [])]).toEqual([5, 0, 6, 6, 0, 0, 8, 8]);
  });
});

describe('generalized advantage estimation', () => {
  const step = {
    sequenceOffsets: Int32Array.of(0, 5),
    lossMask: Float64Array.of(1, 1, 0, 1, 1),
    groups: Int32Array.of(0),
    sequenceAdvantages: Float64Array.of(0),
    rewards: Float64Array.of(0),
    tokenRewards: Float64Array.of(0, 0.5, 99, 0, 1),
    values: Float64Array.of(0.2, 0.4, -99, -0.1, 0.3),
  };

  it('equals the sum over all later errors, with a tool’s token jumped over', () => {
    // Σ_k (γλ)^k·δ of the four tokens that train, with γ = 0.9 and λ = 0.8, by a script of its own.
    const { advantages, returns } = gae({ gamma: 0.9, lambda: 0.8, isWhitened: false })(step);
    expect(numbers(advantages)).toEqual([0.6202816, 0.63928, 0, 0.874, 0.7]);
    expect(numbers(returns ?? [])).toEqual([0.8202816, 1.03928, 0, 0.774, 1]);
  });

  it('with γ = λ = 1 is the return minus the value', () => {
    const { advantages } = gae({ isWhitened: false })(step);
    expect(numbers(advantages)).toEqual([1.3, 1.1, 0, 1.1, 0.7]);
  });

  it('whitens advantages, not returns', () => {
    const { advantages, returns } = gae()(step);
    expect(advantages.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 13);
    expect(numbers(returns ?? [])).toEqual([1.5, 1.5, 0, 1, 1]);
  });
});

describe('the optimal token baseline', () => {
  const scored = {
    oldLogprobs: new Float64Array(8).fill(Math.log(0.5)),
    sumSquaredProbs: Float64Array.of(0.25, 0.25, 0.75, 0.75, 0.5, 0.5, 0.5, 0.5),
  };

  it('weighs the group’s returns with the gradient’s variance so far', () => {
    // w = Σπ² where π = ½: W = ¼, ½ and ¾, 3/2; B = (1·¼ + 0·¾)/1, then (1·½ + 0·3/2)/2.
    const { advantages } = optimalBaseline()(smallStep(scored));
    expect(numbers(advantages.slice(0, 4), 7)).toEqual([0.75, 0.75, -0.25, -0.25]);
  });

  it('has no baseline where only the longest trajectory is left, nor in a group of one', () => {
    const lossMask = Float64Array.of(1, 1, 1, 0, 1, 1, 1, 1);
    const { advantages } = optimalBaseline()(smallStep({ ...scored, lossMask }));
    expect(numbers(advantages.slice(0, 4), 7)).toEqual([0.75, 1, -0.25, 0]);
    const single = smallStep({ ...scored, groups: Int32Array.of(0, 1, 2, 3) });
    expect([...optimalBaseline()(single).advantages]).toEqual([1, 1, 0, 0, 1, 1, 0, 0]);
  });

  it('names what is missing', () => {
    const { oldLogprobs, sumSquaredProbs } = scored;
    expect(() => optimalBaseline()(smallStep({ oldLogprobs }))).toThrow(/needs sumSquaredProbs/);
    expect(() => optimalBaseline()(smallStep({ sumSquaredProbs }))).toThrow(ConfigError);
  });
});
