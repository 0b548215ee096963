/** Generators: extreme log-probs and poisoned inputs, over all algorithms and profiles. */
import { ConfigError, randomAt, SaccadeError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { Algorithm, ScoredGroup, TokenBatch } from './algorithm.ts';
import { cispo } from './algorithms/cispo.ts';
import { dapo } from './algorithms/dapo.ts';
import { grpo } from './algorithms/grpo.ts';
import { reinforce } from './algorithms/reinforce.ts';
import { batchOf, randomStep, withGroupAdvantages } from './contract-step.ts';
import { countGlobally } from './counts.ts';
import { prepareStep, selectTokens } from './pipeline.ts';
import { algorithms } from './registry.ts';

const everywhere = algorithms
  .entries()
  .flatMap(([name, algorithm]) => [
    [name, algorithm] as const,
    ...algorithm.profiles.map(
      (profile) => [`${name}/${profile}`, algorithm.profile(profile)] as const,
    ),
  ]);

/** All terms switched on, as far as the algorithm has them. */
function withTerms(algorithm: Algorithm): Algorithm {
  return algorithm.with({
    klCoefficient: 0.1,
    klImportance: true,
    entropyCoefficient: 0.01,
    topEntropyShare: 0.8,
    offPolicyThreshold: 0.1,
    rejection: 'token-k1 0.0001..10000',
  });
}

describe.each(everywhere)('%s', (_, algorithm) => {
  it('gives finite losses and gradients at extreme log-probs, or refuses them with a typed error', () => {
    const extremes = [0, -1e-300, -50, -800, -1e30, Number.NEGATIVE_INFINITY];
    const fields = ['logprobs', 'oldLogprobs', 'rolloutLogprobs', 'refLogprobs'] as const;
    for (const variant of [algorithm, withTerms(algorithm)]) {
      for (let seed = 0; seed < 40; seed++) {
        const step = randomStep(seed);
        const random = randomAt(seed, 'extremes');
        for (let i = 0; i < 1 + random.integer(6); i++) {
          const field = fields[random.integer(fields.length)] ?? 'logprobs';
          step[field][random.integer(step.logprobs.length)] = extremes[random.integer(6)] ?? 0;
        }
        try {
          const { batch, counts } = batchOf(variant, step);
          const result = variant.loss(batch, counts);
          const all = [result.gradLogprobs, result.gradEntropy, result.gradValues];
          const numbers = [result.loss, ...all.flatMap((grads) => [...(grads ?? [])])];
          expect(numbers.filter((value) => !Number.isFinite(value))).toEqual([]);
          expect(Object.values(result.metrics).filter(Number.isNaN)).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(SaccadeError);
        }
      }
    }
  });

  it('refuses a poisoned token with its field, index and value, and ignores it where masked', () => {
    for (const [seed, poison] of [
      [1, Number.NaN],
      [2, Number.POSITIVE_INFINITY],
      [3, Number.NEGATIVE_INFINITY],
    ] as const) {
      const random = randomAt(seed, 'poison');
      const step = withGroupAdvantages(algorithm, randomStep(seed));
      const trained = [...step.lossMask.keys()].filter((t) => step.lossMask[t] !== 0);
      const masked = [...step.lossMask.keys()].find((t) => step.lossMask[t] === 0);
      const given = { ...step, tokenRewards: step.values.map((value) => value / 3) };
      const prepared = prepareStep(algorithm, given);
      const current = {
        logprobs: step.logprobs,
        entropy: step.entropy,
        values: step.currentValues,
      };
      const whole = { ...prepared.batch, ...current };
      const run = (batch: TokenBatch): number => {
        const selected = selectTokens(algorithm, batch, prepared.counts);
        return algorithm.loss(selected.batch, selected.counts).loss;
      };
      const poisonedAt = (values: ArrayLike<number>, t: number): Float64Array => {
        const copy = Float64Array.from(values);
        copy[t] = poison;
        return copy;
      };
      const at = trained[random.integer(trained.length)] ?? 0;
      for (const field of [
        'oldLogprobs',
        'rolloutLogprobs',
        'refLogprobs',
        'values',
        'tokenRewards',
        'sumSquaredProbs',
      ] as const) {
        const bad = { ...given, [field]: poisonedAt(given[field] ?? [], at) };
        expect(() => prepareStep(algorithm, bad), field).toThrow(`${field}[${at}] is ${poison}`);
        if (masked === undefined) continue;
        const fine = { ...given, [field]: poisonedAt(given[field] ?? [], masked) };
        expect([...prepareStep(algorithm, fine).batch.advantages]).toEqual([
          ...prepared.batch.advantages,
        ]);
      }
      const sequence = random.integer(step.rewards.length);
      for (const field of ['rewards', 'sequenceAdvantages', 'turnRewards'] as const) {
        const index = field === 'turnRewards' ? random.integer(step.turnRewards.length) : sequence;
        const bad = { ...given, [field]: poisonedAt(given[field], index) };
        expect(() => prepareStep(algorithm, bad)).toThrow(`${field}[${index}] is ${poison}`);
      }
      const expected = run(whole);
      for (const [field, values] of Object.entries(whole)) {
        if (field === 'sequenceOffsets') continue;
        const bad = { ...whole, [field]: poisonedAt(values as Float64Array, at) };
        expect(() => run(bad), field).toThrow(`${field}[${at}] is ${poison}`);
        if (masked === undefined || field === 'lossMask') continue;
        expect(run({ ...whole, [field]: poisonedAt(values as Float64Array, masked) })).toBe(
          expected,
        );
      }
      for (const count of ['tokens', 'sequences'] as const) {
        const { batch, counts } = selectTokens(algorithm, whole as TokenBatch, prepared.counts);
        expect(() => algorithm.loss(batch, { ...counts, [count]: poison })).toThrow(
          `counts.${count} is ${poison}`,
        );
      }
    }
  });

  it('refuses a poisoned group', () => {
    const group: ScoredGroup = {
      rewards: Float64Array.of(0, 1, 2),
      tokenCounts: [3, 4, 5],
      terms: { accuracy: Float64Array.of(0, 1, 1), bonus: Float64Array.of(0, 0, 1) },
      termWeights: { accuracy: 2 },
      greedyReward: 0.5,
    };
    expect(algorithm.groupAdvantages(group).every(Number.isFinite)).toBe(true);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const refused: readonly [Partial<ScoredGroup>, string][] = [
        [{ rewards: Float64Array.of(0, bad, 2) }, 'rewards[1] is'],
        [{ tokenCounts: [3, 4, bad] }, 'tokenCounts[2] is'],
        [{ terms: { accuracy: Float64Array.of(bad, 1, 1) } }, 'terms.accuracy[0] is'],
        [{ termWeights: { accuracy: bad } }, 'termWeights.accuracy is'],
        [{ greedyReward: bad }, 'greedyReward is'],
        [{ termWeights: { acuracy: 1 } }, 'no such term. Known: accuracy, bonus'],
      ];
      for (const [changes, message] of refused) {
        expect(() => algorithm.groupAdvantages({ ...group, ...changes })).toThrow(message);
      }
    }
  });
});

describe('an infinite ratio without a derivative', () => {
  const batch: TokenBatch<Float64Array> = {
    logprobs: Float64Array.of(-0.1, -0.1),
    oldLogprobs: Float64Array.of(-800, -0.1),
    advantages: Float64Array.of(1, -1),
    lossMask: Float64Array.of(1, 1),
    sequenceOffsets: Int32Array.of(0, 2),
  };
  const counts = countGlobally([batch]);

  it('leaves CISPO its clipped weight', () => {
    // By hand: weights min(∞, 5)·1 and 1·(−1), over two tokens.
    const { gradLogprobs } = cispo.profile('trl').loss(batch, counts);
    expect([...gradLogprobs]).toEqual([-2.5, 0.5]);
  });

  it('leaves the plain policy gradient what it is', () => {
    const { gradLogprobs } = reinforce.with({ maxLogRatio: 0 }).loss(batch, counts);
    expect([...gradLogprobs]).toEqual([-0.5, 0.5]);
  });

  it('is refused by name where the loss itself is infinite', () => {
    const worse = { ...batch, advantages: Float64Array.of(-1, -1) };
    expect(() => grpo.profile('paper').with({ klCoefficient: 0 }).loss(worse, counts)).toThrow(
      /not finite .* at token 0 logprobs is -0.1, oldLogprobs -800/,
    );
    expect(dapo.loss(worse, counts).loss).toBeLessThan(Number.POSITIVE_INFINITY);
  });
});

describe('bounds that leave nothing', () => {
  it.each([
    [{ correctionLow: 3, correctionHigh: 2 }, /correctionHigh must be above correctionLow \(3\)/],
    [{ correctionHigh: 0 }, /correctionHigh must be above correctionLow/],
    [{ rejection: 'token-k1', rejectionHigh: 0.5 }, /set rejectionHigh above 1/],
    [{ rejection: 'token-k1', rejectionHigh: 1 }, /set rejectionHigh above 1/],
    [{ rejection: 'token-k1', rejectionLow: 2, rejectionHigh: 1.5 }, /above rejectionLow/],
    [{ rejectionHigh: 0 }, /rejectionHigh must be above 0/],
    [{ rejection: 'token-k2', rejectionHigh: 0 }, /rejectionHigh must be above 0/],
    [{ rejection: 'token-k1 3..2' }, /keeps ratios from 3 to 2/],
    [{ rejection: 'token-k2 0.1..2' }, /without a lower bound/],
    [{ rejection: 'token-k1 x' }, /must be like "2" or "0.5..2"/],
    [{ rejection: 'token-k1 2 3' }, /more than a name and its bounds/],
    [{ rejection: 'token-k1,token-k1' }, /names token-k1 twice/],
    [{ rejection: 'token-k4' }, /no rejection "token-k4". Known: none, token-k1/],
    [{ dualClip: 0.9 }, /dualClip must be above 1/],
    [{ delta: -1 }, /algorithm.delta: expected a number in \[0/],
    [{ covarianceLow: 5, covarianceHigh: 1 }, /covarianceLow must be below covarianceHigh/],
  ])('are refused: %o', (changes, message) => {
    const algorithm = algorithms.get('clip-cov');
    expect(() => algorithm.with(changes)).toThrow(ConfigError);
    expect(() => algorithm.with(changes)).toThrow(message);
  });

  it('name the choices of a word that is not one', () => {
    expect(() => algorithms.get('gdpo').with({ scale: 'batch' })).toThrow(
      /algorithm.scale: expected one of none, group/,
    );
  });
});
