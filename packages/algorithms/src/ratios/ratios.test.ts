import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { TokenBatch } from '../algorithm.ts';
import { grpo } from '../algorithms/grpo.ts';
import { gspo } from '../algorithms/gspo.ts';
import { countGlobally } from '../counts.ts';
import { prepareStep } from '../pipeline.ts';
import { numbers } from '../step.fixture.ts';
import { geometricMeanRatio } from './geometric-mean.ts';
import { sequenceRatio, sequenceRatioSum } from './sequence.ts';
import { tokenRatio } from './token.ts';

const batch: TokenBatch<Float64Array> = {
  logprobs: Float64Array.of(-0.5, -1.2, -0.3, -2.0),
  oldLogprobs: Float64Array.of(-0.9, -1.1, -0.35, -1.4),
  advantages: Float64Array.of(0.7, 0.7, -0.4, -0.4),
  lossMask: new Float64Array(4).fill(1),
  sequenceOffsets: Int32Array.of(0, 2, 4),
};

describe('ratios', () => {
  it('of a sequence: the geometric mean, or the product, of its tokens’', () => {
    const mean = [Math.exp(0.15), Math.exp(-0.275)];
    expect(numbers(sequenceRatio().forward(batch))).toEqual(
      numbers([mean[0], mean[0], mean[1], mean[1]]),
    );
    expect(numbers(sequenceRatioSum().forward(batch))).toEqual(
      numbers([0.3, 0.3, -0.55, -0.55].map(Math.exp)),
    );
    const masked = { ...batch, lossMask: Float64Array.of(1, 0, 1, 1) };
    expect(sequenceRatio().forward(masked)[0]).toBeCloseTo(Math.exp(0.4), 14);
  });

  it('of a sequence have the true gradient: GSPO equals torch autograd', () => {
    const wide = gspo.with({ clipLow: 1, clipHigh: 1 });
    const { loss, gradLogprobs } = wide.loss(batch, countGlobally([batch]));
    // torch 2.13: −(exp(mean(d))·A).mean() over the two sequences.
    expect(loss).toBeCloseTo(-0.2547275603099054, 14);
    expect(numbers(gradLogprobs)).toEqual([
      -0.203320992477, -0.203320992477, 0.075957212322, 0.075957212322,
    ]);
  });

  it('straight-through give GSPO’s gradient where a sequence has one advantage, not else', () => {
    const counts = countGlobally([batch]);
    const both = (given: TokenBatch<Float64Array>): number[][] =>
      ['sequence', 'sequence-straight-through'].map((ratio) =>
        numbers(gspo.with({ ratio, clipLow: 1, clipHigh: 1 }).loss(given, counts).gradLogprobs),
      );
    const [own, through] = both(batch);
    expect(through).toEqual(own);
    const [uneven, other] = both({ ...batch, advantages: Float64Array.of(1, 0, -0.4, -0.4) });
    expect(other).not.toEqual(uneven);
  });

  it('geometric mean: clips each token on the side its advantage pushes to', () => {
    const ratio = geometricMeanRatio({ clipLow: 0.4, clipHigh: 0.3 });
    // Log-ratios 0.4, −0.1 with A > 0: the first is held at 0.3. 0.05, −0.6 with A < 0: at −0.4.
    expect(numbers(ratio.forward(batch))).toEqual(
      numbers([0.1, 0.1, -0.175, -0.175].map(Math.exp)),
    );
    const grad = ratio.backward(batch, ratio.forward(batch), new Float64Array(4).fill(1));
    expect(numbers(grad)).toEqual(numbers([0, Math.exp(0.1), Math.exp(-0.175), 0]));
    expect([...(ratio.clips?.(batch) ?? [])]).toEqual([2, 0, 0, 1]);
  });

  it('of tokens are held within e^±20, or not at all', () => {
    const far = { ...batch, logprobs: Float64Array.of(-0.5, -100, -0.3, 29) };
    expect(tokenRatio().forward(far)[3]).toBe(Math.exp(20));
    expect(tokenRatio({ maxLogRatio: 0 }).forward(far)[3]).toBe(Math.exp(30.4));
  });

  it('decoupled: equal a token correction whose weights are masked at the cap', () => {
    const step = {
      ...batch,
      groups: Int32Array.of(0, 0),
      sequenceAdvantages: Float64Array.of(0.7, -0.4),
      rewards: Float64Array.of(1, 0),
      rolloutLogprobs: Float64Array.of(-1, -2.5, -0.7, -1.3),
    };
    const run = (changes: Parameters<typeof grpo.with>[0]) => {
      const algorithm = grpo.with(changes);
      const { batch: constant, counts } = prepareStep(algorithm, step);
      return algorithm.loss({ ...constant, logprobs: batch.logprobs }, counts);
    };
    const decoupled = run({ ratio: 'decoupled', behaviorCap: 2 });
    const corrected = run({ correction: 'mask', correctionHigh: 2 });
    expect(decoupled.loss).toBe(corrected.loss);
    expect([...decoupled.gradLogprobs]).toEqual([...corrected.gradLogprobs]);
    expect(decoupled.loss).not.toBe(run({}).loss);
  });

  it('decoupled need the log-probs of the engine that sampled', () => {
    const counts = countGlobally([batch]);
    expect(() => grpo.with({ ratio: 'decoupled' }).loss(batch, counts)).toThrow(ConfigError);
  });
});
