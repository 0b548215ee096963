import { ConfigError, ShapeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { groupMean } from './advantages/group-mean.ts';
import { groupStd } from './advantages/group-std.ts';
import type { Algorithm, GlobalCounts, TokenBatch } from './algorithm.ts';
import { dapo } from './algorithms/dapo.ts';
import { grpo } from './algorithms/grpo.ts';
import { pyvisionRl } from './algorithms/pyvision-rl.ts';
import { reinforce } from './algorithms/reinforce.ts';
import { composeAlgorithm } from './compose.ts';
import { countGlobally } from './counts.ts';
import { clipNames } from './marks.ts';
import { finishMetrics } from './metrics.ts';
import { negativeLogLikelihood } from './negative-log-likelihood.ts';
import { clipped } from './surrogates/clipped.ts';

/** Three sequences; every side of every clip occurs; one token is masked. */
const batch: TokenBatch = {
  logprobs: Float64Array.of(-0.5, -1.2, -0.3, -2.0, -0.9, -0.1, -1.7, -0.6),
  oldLogprobs: Float64Array.of(-0.9, -1.1, -0.35, -1.4, -0.5, -1.6, -1.7, -0.2),
  advantages: Float64Array.of(0.7, 0.7, 0.7, -0.4, -0.4, -0.4, 1.5, 1.5),
  lossMask: Float64Array.of(1, 1, 1, 1, 1, 1, 0, 1),
  refLogprobs: Float64Array.of(-0.6, -1.0, -0.3, -2.5, -0.7, -0.4, -1.0, -0.9),
  entropy: Float64Array.of(0.4, 0.9, 0.2, 1.3, 0.8, 0.3, 1.1, 0.5),
  sequenceOffsets: Int32Array.of(0, 3, 6, 8),
};
const counts: GlobalCounts = countGlobally([batch]);

function withAggregation(aggregation: string): Algorithm {
  return composeAlgorithm({
    name: 'test',
    paper: 'test',
    description: 'test',
    settings: {},
    defaults: { aggregation: aggregation as 'token-mean' },
    profiles: {},
    choose: () => ({
      groupAdvantage: groupMean(),
      surrogate: clipped({ clipLow: 0.2, clipHigh: 0.28, dualClip: 3 }),
    }),
  });
}

// Losses and gradients of the batch above by autograd of torch 2.13, float64, from the formulas
// written with torch.maximum, torch.clamp and torch.where.
const golden: readonly [string, Algorithm, number, readonly number[]][] = [
  [
    'token-sum',
    withAggregation('token-sum'),
    -1.4307560291418473,
    [0, -0.633386192625, -0.735889767463, 0, 0, 0, 0, -1.00548006905],
  ],
  [
    'token-mean',
    withAggregation('token-mean'),
    -0.20439371844883533,
    [0, -0.0904837418036, -0.105127109638, 0, 0, 0, 0, -0.143640009865],
  ],
  [
    'sequence-mean-token-mean',
    withAggregation('sequence-mean-token-mean'),
    -0.382412907472085,
    [0, -0.070376243625, -0.0817655297181, 0, 0, 0, 0, -0.335160023018],
  ],
  [
    'pyvision-rl',
    pyvisionRl,
    -0.19639371844883532,
    [0, -0.0904837418036, -0.105127109638, 0, 0, 0, 0, -0.143640009865],
  ],
  [
    'pyvision-rl without dual clip',
    pyvisionRl.with({ dualClip: 0 }),
    -0.11172577157237451,
    [0, -0.0904837418036, -0.105127109638, 0, 0, 0.256096518305, 0, -0.143640009865],
  ],
  [
    'pyvision-rl with an entropy bonus of 0.01',
    pyvisionRl.with({ entropyCoefficient: 0.01 }),
    -0.20267943273454958,
    [0, -0.0904837418036, -0.105127109638, 0, 0, 0, 0, -0.143640009865],
  ],
  [
    'dapo',
    dapo,
    -0.1197257715723745,
    [0, -0.0904837418036, -0.105127109638, 0, 0, 0.256096518305, 0, -0.143640009865],
  ],
  [
    'grpo',
    grpo,
    -0.31033783767928214,
    [0, -0.070376243625, -0.0817655297181, 0, 0, 0.199186180904, 0, -0.335160023018],
  ],
  [
    'grpo with a KL coefficient of 0.04',
    grpo.with({ klCoefficient: 0.04 }),
    -0.3089269644490786,
    [
      0.000422944808729, -0.0713602558835, -0.0817655297181, 0.0017487526235, -0.00098401225849,
      0.200338099923, 0, -0.33170426596,
    ],
  ],
  [
    'reinforce',
    reinforce,
    0.15714285714285708,
    [-0.1, -0.1, -0.1, 0.0571428571429, 0.0571428571429, 0.0571428571429, 0, -0.214285714286],
  ],
];

describe('the loss', () => {
  it.each(golden)('equals torch autograd: %s', (_, algorithm, loss, grads) => {
    const result = algorithm.loss(batch, counts);
    expect(result.loss).toBeCloseTo(loss, 13);
    // The literals have twelve digits.
    grads.forEach((grad, t) => {
      expect(Math.abs((result.gradLogprobs[t] ?? Number.NaN) - grad)).toBeLessThan(1e-11);
    });
  });

  it('gives the entropy bonus its gradient, and none without a coefficient', () => {
    const { gradEntropy } = pyvisionRl.with({ entropyCoefficient: 0.01 }).loss(batch, counts);
    // torch 2.13: −0.01/7 at each of the seven tokens that train.
    expect(gradEntropy?.[0]).toBeCloseTo(-0.0014285714285714286, 9);
    expect(gradEntropy?.[6]).toBeCloseTo(0, 20);
    expect(pyvisionRl.loss(batch, counts).gradEntropy).toBeUndefined();
  });

  it('has a gradient of −A/N at the first update of a batch, where all ratios are 1', () => {
    const first = { ...batch, oldLogprobs: batch.logprobs };
    const { gradLogprobs, metrics } = pyvisionRl.loss(first, counts);
    expect(gradLogprobs[1]).toBeCloseTo(-0.7 / 7, 7);
    expect(gradLogprobs[3]).toBeCloseTo(0.4 / 7, 7);
    expect(metrics['clip_ratio/region_mean']).toBe(0);
    expect(metrics['approx_kl/k3']).toBe(0);
  });

  it('stays finite where the policy has all but forgotten a token', () => {
    const far = {
      ...batch,
      logprobs: Float64Array.from(batch.logprobs, (_, t) => (t < 3 ? 0 : -900)),
    };
    const wide = { ...far, oldLogprobs: Float64Array.from(far.oldLogprobs, () => -800) };
    for (const algorithm of [pyvisionRl, dapo, grpo]) {
      const { loss, gradLogprobs } = algorithm.loss(wide, counts);
      expect(Number.isFinite(loss)).toBe(true);
      expect(gradLogprobs.every(Number.isFinite)).toBe(true);
    }
  });

  it('says which array does not fit, and which input a term lacks', () => {
    const short = { ...batch, advantages: new Float32Array(3) };
    expect(() => grpo.loss(short, counts)).toThrow(
      new ShapeError('advantages must have length 8, got 3.'),
    );
    const offsets = { ...batch, sequenceOffsets: Int32Array.of(0, 3) };
    expect(() => grpo.loss(offsets, counts)).toThrow(/must run from 0 to 8/);
    const { refLogprobs: _, entropy: __, ...bare } = batch;
    expect(() => grpo.with({ klCoefficient: 0.1 }).loss(bare, counts)).toThrow(/no refLogprobs/);
    expect(() => dapo.with({ entropyCoefficient: 0.1 }).loss(bare, counts)).toThrow(/no entropy/);
  });

  it('refuses settings an algorithm does not have, and values that make no sense', () => {
    expect(() => reinforce.with({ clipLow: 0.2 })).toThrow(/no setting "clipLow". Known: aggreg/);
    expect(() => dapo.with({ clipLow: Number.NaN })).toThrow(ConfigError);
    expect(() => dapo.with({ clipHigh: -1 })).toThrow(
      /algorithm.clipHigh: expected a number in \[0, /,
    );
    expect(() => pyvisionRl.with({ dualClip: 0.5 })).toThrow(/above 1, or 0/);
    expect(pyvisionRl.with({ clipHigh: 0.3 }).settings).toMatchObject({
      clipLow: 0.2,
      clipHigh: 0.3,
    });
  });
});

describe('the clipped surrogate', () => {
  // Sign of A × side of the ratio, and the dual clip: torch 2.13 autograd, float64, ranges
  // 0.2/0.28, c = 3; the last column is ∂ℓ/∂logprob = ρ·∂ℓ/∂ρ.
  it.each([
    [1, 0.5, -0.5, -0.5, 'none'],
    [1, 1.5, -1.28, 0, 'high'],
    [1, 4, -1.28, 0, 'high'],
    [-1, 0.5, 0.8, 0, 'low'],
    [-1, 1.5, 1.5, 1.5, 'none'],
    [-1, 4, 3, 0, 'dual'],
  ])('A = %d, ρ = %d', (advantage, ratio, loss, grad, clip) => {
    const values = clipped({ clipLow: 0.2, clipHigh: 0.28, dualClip: 3 })({
      ratios: Float64Array.of(ratio),
      advantages: Float64Array.of(advantage),
      logprobs: Float64Array.of(0),
      oldLogprobs: Float64Array.of(0),
    });
    expect(values.losses[0]).toBeCloseTo(loss, 14);
    expect((values.gradRatios[0] ?? Number.NaN) * ratio).toBeCloseTo(grad, 14);
    expect(clipNames[values.clips[0] ?? 9]).toBe(clip);
  });
});

describe('metrics', () => {
  it('are those torch gives for the same tokens', () => {
    const values = finishMetrics([pyvisionRl.loss(batch, counts).metrics], counts);
    // torch 2.13, float64, over the seven tokens that train.
    expect(values['approx_kl/k1']).toBeCloseTo(-0.06428571428571431, 14);
    expect(values['approx_kl/k3']).toBeCloseTo(0.338439144365232, 14);
    expect(values['ratio/mean']).toBeCloseTo(1.4027248586509462, 14);
    expect(values['ratio/min']).toBeCloseTo(0.5488116360940264, 14);
    expect(values['ratio/max']).toBeCloseTo(4.4816890703380645, 14);
    expect(values.entropy).toBeCloseTo(0.6285714285714287, 14);
    // By hand: tokens 3 and 4 are below, 0 above, 5 beyond the dual clip.
    expect(values['clip_ratio/low_mean']).toBeCloseTo(2 / 7, 14);
    expect(values['clip_ratio/high_mean']).toBeCloseTo(1 / 7, 14);
    expect(values['clip_ratio/dual_mean']).toBeCloseTo(1 / 7, 14);
    expect(values['clip_ratio/region_mean']).toBeCloseTo(4 / 7, 14);
  });

  it('have quantiles and an effective share of the sample, of all micro-batches together', () => {
    const ratios = Array.from({ length: 101 }, (_, i) => Math.exp((i - 50) / 25));
    const many = {
      logprobs: Float64Array.from(ratios, (ratio) => Math.log(ratio) - 3),
      oldLogprobs: new Float64Array(101).fill(-3),
      advantages: new Float64Array(101).fill(1),
      lossMask: new Float64Array(101).fill(1),
      sequenceOffsets: Int32Array.of(0, 101),
    };
    const all = countGlobally([many]);
    const cut = (from: number, to: number): TokenBatch => ({
      logprobs: many.logprobs.slice(from, to),
      oldLogprobs: many.oldLogprobs.slice(from, to),
      advantages: many.advantages.slice(from, to),
      lossMask: many.lossMask.slice(from, to),
      sequenceOffsets: Int32Array.of(0, to - from),
    });
    const parts = [cut(0, 30), cut(30, 101)].map((part) => dapo.loss(part, all).metrics);
    const values = finishMetrics(parts, all);
    // The 6th, 51st and 96th of the sorted ratios, to half a percent.
    for (const [name, rank] of [
      ['ratio/p05', 5],
      ['ratio/p50', 50],
      ['ratio/p95', 95],
    ] as const) {
      expect(Math.abs(values[name] / ratios[rank] - 1)).toBeLessThan(0.006);
    }
    const sum = ratios.reduce((total, ratio) => total + ratio, 0);
    const squares = ratios.reduce((total, ratio) => total + ratio * ratio, 0);
    expect(values['ratio/ess']).toBeCloseTo((sum * sum) / (101 * squares), 13);
    expect(Object.keys(values).some((name) => name.includes('bin'))).toBe(false);
  });

  it('of a step without tokens are none', () => {
    expect(finishMetrics([{ entropy: 0 }], { tokens: 0, sequences: 0 })).toEqual({});
  });
});

describe('advantages', () => {
  const rewards = Float64Array.of(1.2, 1.1, 1.0, 0, 0, 0, 0, 1.4);

  it('subtract the mean, as in the hand-worked example of PyVision-RL', () => {
    const expected = [0.6125, 0.5125, 0.4125, -0.5875, -0.5875, -0.5875, -0.5875, 0.8125];
    groupMean()({ rewards }).forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i] ?? Number.NaN, 14);
    });
    const correct = groupMean()({ rewards: Float64Array.of(1.1, 1.2, 1.3, 1.0) });
    [-0.05, 0.05, 0.15, -0.15].forEach((value, i) => {
      expect(correct[i]).toBeCloseTo(value, 14);
    });
  });

  it('divide by the standard deviation, as torch does', () => {
    // torch 2.13, float64: (R − R.mean()) / (R.std() + 1e-6).
    const expected = [
      0.9601238615693478, 0.8033689453947607, 0.6466140292201731, -0.9209351325257008,
      -0.9209351325257008, -0.9209351325257008, -0.9209351325257008, 1.2736336939185224,
    ];
    groupStd()({ rewards }).forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i] ?? Number.NaN, 13);
    });
  });

  it('are exactly 0 where all rewards are equal, whatever rounding does to their mean', () => {
    for (const advantage of [groupMean(), groupStd()]) {
      expect([...advantage({ rewards: new Float64Array(7).fill(1.1) })]).toEqual(
        new Array(7).fill(0),
      );
      expect([...advantage({ rewards: Float64Array.of(0.3) })]).toEqual([0]);
      expect([...advantage({ rewards: new Float64Array(0) })]).toEqual([]);
    }
  });
});

describe('negativeLogLikelihood', () => {
  it('equals torch autograd', () => {
    const { loss, gradLogprobs } = negativeLogLikelihood(batch, counts);
    // torch 2.13: (−lp·mask).sum() / mask.sum() of the batch above.
    expect(loss).toBeCloseTo(0.7999999999999999, 14);
    gradLogprobs.forEach((grad, t) => {
      expect(grad).toBeCloseTo(t === 6 ? 0 : -0.142857142857, 7);
    });
  });

  it('does not change when a step is split', () => {
    const half = (from: number, to: number): number =>
      negativeLogLikelihood(
        { logprobs: batch.logprobs.slice(from, to), lossMask: batch.lossMask.slice(from, to) },
        counts,
      ).loss;
    expect(half(0, 3) + half(3, 8)).toBeCloseTo(0.8, 14);
  });
});
