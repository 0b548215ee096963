import { ConfigError, ShapeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { TokenBatch } from './algorithm.ts';
import { codevision } from './algorithms/codevision.ts';
import { dapo } from './algorithms/dapo.ts';
import { grpo } from './algorithms/grpo.ts';
import { groupsOfSize } from './compose.ts';
import { countGlobally } from './counts.ts';
import { algorithms } from './registry.ts';
import { numbers, smallStep } from './step.fixture.ts';

const batch: TokenBatch<Float64Array> = {
  logprobs: Float64Array.of(-0.5, -1.2, -0.3),
  oldLogprobs: Float64Array.of(-0.9, -1.1, -0.35),
  advantages: Float64Array.of(0.7, 0.7, -0.4),
  lossMask: Float64Array.of(1, 1, 1),
  sequenceOffsets: Int32Array.of(0, 2, 3),
};
const counts = countGlobally([batch]);

describe('profiles', () => {
  it('set every number at once, and with() goes on from there', () => {
    expect(grpo.profiles).toEqual(['paper', 'trl', 'verl']);
    const verl = grpo.profile('verl');
    expect(verl.settings).toMatchObject({ dualClip: 3, singleton: 'reward', kl: 'k3-bounded' });
    expect(verl.with({ clipHigh: 0.3 }).settings).toMatchObject({ dualClip: 3, clipHigh: 0.3 });
    expect(verl.profile('trl').settings).toMatchObject({ stdEpsilon: 1e-4, klImportance: true });
  });

  it('that an algorithm does not have are refused with those it has', () => {
    expect(() => codevision.profile('trl')).toThrow(/codevision has no profile "trl". Known: verl/);
    expect(() => codevision.profile('toString')).toThrow(ConfigError);
  });
});

describe('needs and stages', () => {
  it('say what a trainer must bring', () => {
    expect([dapo.needs, dapo.stages]).toEqual([[], []]);
    expect(algorithms.get('ppo').needs).toEqual(['values']);
    expect(grpo.with({ klCoefficient: 0.1, correction: 'mask' }).needs).toEqual([
      'refLogprobs',
      'rolloutLogprobs',
    ]);
    const all = grpo.with({ scale: 'batch', correction: 'mask', topEntropyShare: 0.5 });
    expect(all.stages).toEqual(['tokenAdvantages', 'correct', 'select']);
    expect(all.needs).toEqual(['entropy', 'rolloutLogprobs']);
  });
});

describe('groupsOfSize', () => {
  it('numbers groups, and refuses sizes that make none', () => {
    expect([...groupsOfSize(6, 3)]).toEqual([0, 0, 0, 1, 1, 1]);
    for (const size of [-2, 0, 4, 1.5, Number.NaN]) {
      expect(() => groupsOfSize(6, size)).toThrow(ShapeError);
    }
    expect(() => groupsOfSize(6, -2)).toThrow(/whole number above 0 that divides the 6 sequences/);
  });
});

describe('KL in the reward', () => {
  it('comes off before the group is compared', () => {
    const step = smallStep({
      oldLogprobs: new Float64Array(8).fill(-1),
      refLogprobs: Float64Array.of(-1, -1, -1, -1, -3, -1, -1, -1),
    });
    const inReward = algorithms
      .get('rloo')
      .with({ klPlace: 'reward', kl: 'k1', klCoefficient: 0.1 });
    // By hand: rewards 1, 0 and 1 − 0.1·2, 0.
    expect(numbers(inReward.tokenAdvantages(step).advantages)).toEqual([
      1, 1, -1, -1, 0.8, 0.8, -0.8, -0.8,
    ]);
    expect(() => inReward.tokenAdvantages(smallStep())).toThrow(
      /KL in the reward needs oldLogprobs/,
    );
  });
});

describe('bad steps and counts', () => {
  it('say what does not fit', () => {
    expect(() => dapo.tokenAdvantages(smallStep({ groups: Int32Array.of(0) }))).toThrow(
      new ShapeError('groups must have length 4, got 1.'),
    );
    const back = smallStep({ sequenceOffsets: Int32Array.of(0, 4, 2, 6, 8) });
    expect(() => dapo.tokenAdvantages(back)).toThrow(/must not decrease, but after 4 comes 2/);
    expect(() => dapo.loss(batch, { tokens: 0, sequences: 0 })).toThrow(/counts.tokens is 0/);
    const terms = { accuracy: Float64Array.of(1) };
    expect(() => dapo.groupAdvantages({ rewards: Float64Array.of(1, 2), terms })).toThrow(
      ShapeError,
    );
  });

  it('settings of the wrong type, word or range', () => {
    expect(() => dapo.with({ clipLow: '0.2' })).toThrow(
      /algorithm.clipLow: expected a number in \[0, .*got "0.2", a string/,
    );
    expect(() => dapo.with({ aggregation: 'mean' })).toThrow(
      /algorithm.aggregation: expected one of fixed-length, .*got "mean"/,
    );
    expect(() => dapo.with({ topEntropyShare: 2 })).toThrow(
      /expected a number in \[0, 1\] \(fraction\), got 2/,
    );
    expect(() => dapo.with({ klImportance: 1 })).toThrow(ConfigError);
    expect(() => algorithms.get('grop')).toThrow(/no algorithm "grop". Known: .*grpo/);
  });

  it('gradients come in the precision of the log-probs', () => {
    expect(dapo.loss(batch, counts).gradLogprobs).toBeInstanceOf(Float64Array);
    const single = { ...batch, logprobs: Float32Array.from(batch.logprobs) };
    expect(dapo.loss(single, counts).gradLogprobs).toBeInstanceOf(Float32Array);
  });
});
