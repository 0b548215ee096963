import { ConfigError, ShapeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { numbers } from '../step.fixture.ts';
import { accuracyBaseline } from './accuracy-baseline.ts';
import { bestOfGroup } from './best-of-group.ts';
import { greedyBaseline } from './greedy-baseline.ts';
import { groupMean } from './group-mean.ts';
import { groupStd } from './group-std.ts';
import { leaveOneOut } from './leave-one-out.ts';
import { lengthWeighted } from './length-weighted.ts';
import { perTerm } from './per-term.ts';
import { rawReward } from './raw-reward.ts';

const rewards = Float64Array.of(1, 0, 0.5);
const alone = { rewards: Float64Array.of(0.7) };

describe('group advantages, worked by hand', () => {
  it('leave one out: the mean of the other two is the baseline', () => {
    expect(numbers(leaveOneOut()({ rewards }))).toEqual([0.75, -0.75, 0]);
    expect([...leaveOneOut()(alone)]).toEqual([0]);
    expect([...leaveOneOut({ singleton: 'reward' })(alone)]).toEqual([0.7]);
  });

  it('length-weighted: the baseline is (4·1 + 2·0 + 2·½)/8', () => {
    const values = lengthWeighted()({ rewards, tokenCounts: [4, 2, 2] });
    expect(numbers(values)).toEqual([0.375, -0.625, -0.125]);
    expect(numbers(lengthWeighted()({ rewards, tokenCounts: [0, 0, 0] }))).toEqual([0, -1, -0.5]);
    expect(() => lengthWeighted()({ rewards })).toThrow(ConfigError);
    expect(() => lengthWeighted()({ rewards, tokenCounts: [1] })).toThrow(ShapeError);
  });

  it('greedy: the greedy answer’s reward is the baseline', () => {
    expect(numbers(greedyBaseline()({ rewards, greedyReward: 0.25 }))).toEqual([0.75, -0.25, 0.25]);
    expect(() => greedyBaseline()({ rewards })).toThrow(/Roll out each task once at temperature 0/);
  });

  it('best of the group: only the best gets its lead', () => {
    expect([...bestOfGroup({ isScaled: false })({ rewards })]).toEqual([0.5, 0, 0]);
    // The standard deviation of 1, 0, ½ with denominator 2 is ½.
    expect(numbers(bestOfGroup({ stdEpsilon: 0 })({ rewards }))).toEqual([1, 0, 0]);
    expect(() => bestOfGroup()(alone)).toThrow(/at least 2 trajectories, this group has 1/);
  });

  it('per term: each component has the same say, whatever its size', () => {
    const terms = { accuracy: Float64Array.of(1, 0), bonus: Float64Array.of(0, 0.01) };
    const group = { rewards: Float64Array.of(1, 0.01), terms };
    expect(numbers(perTerm({ stdEpsilon: 0 })(group))).toEqual([0, 0]);
    // (1 − 4)/√2 and (4 − 1)/√2.
    const heavier = { ...group, termWeights: { bonus: 4 } };
    expect(numbers(perTerm({ stdEpsilon: 0 })(heavier), 9)).toEqual([-2.121320344, 2.121320344]);
    expect(() => perTerm()({ rewards })).toThrow(ConfigError);
  });

  it('accuracy baseline: a right answer is never held to the bonus of another', () => {
    // The group of PyVision-RL's appendix: all are right, and differ in tool calls alone.
    const group = {
      rewards: Float64Array.of(1.1, 1.2, 1.3, 1),
      terms: { accuracy: Float64Array.of(1, 1, 1, 1) },
    };
    expect(numbers(accuracyBaseline()(group))).toEqual([0.1, 0.2, 0.3, 0]);
    expect(() => accuracyBaseline()({ rewards, terms: { format: rewards } })).toThrow(
      /has format\. Give 0 or 1/,
    );
  });

  it('raw reward: as it is, in an array of its own', () => {
    const values = rawReward()({ rewards });
    expect([...values]).toEqual([1, 0, 0.5]);
    expect(values).not.toBe(rewards);
  });

  it('a group of one gets 0, or keeps its reward as in verl', () => {
    expect([...groupMean()(alone)]).toEqual([0]);
    expect([...groupMean({ singleton: 'reward' })(alone)]).toEqual([0.7]);
    expect([...groupStd({ singleton: 'reward' })(alone)]).toEqual([0.7 / (1 + 1e-6)]);
  });

  it('without an epsilon equal rewards still give 0, not 0/0', () => {
    const equal = { rewards: Float64Array.of(1.1, 1.1, 1.1) };
    expect([...groupStd({ stdEpsilon: 0 })(equal)]).toEqual([0, 0, 0]);
  });

  it('population and sample standard deviation differ by √(G/(G−1))', () => {
    const [sample] = groupStd({ stdEpsilon: 0, stdDof: 1 })({ rewards });
    const [population] = groupStd({ stdEpsilon: 0, stdDof: 0 })({ rewards });
    expect((population ?? 0) / (sample ?? 0)).toBeCloseTo(Math.sqrt(3 / 2), 14);
  });
});
