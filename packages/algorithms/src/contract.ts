/**
 * What every algorithm must keep, as plain checks: each throws an Error that says what broke.
 *
 *   for (const { name, check } of algorithmContract) test(name, () => check(myAlgorithm));
 */
import { randomAt } from '@saccade/core';
import type { Algorithm, AlgorithmResult, TokenBatch } from './algorithm.ts';
import { countGlobally } from './counts.ts';
import { finishMetrics } from './metrics.ts';

export interface AlgorithmCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(algorithm: Algorithm): void;
}

export const algorithmContract: readonly AlgorithmCheck[] = [
  { name: 'gives gradients equal to central differences in float64', check: checkGradients },
  { name: 'gives masked tokens no loss and no gradient, whatever they hold', check: checkMask },
  { name: 'does not change when a step is split into micro-batches', check: checkSplitting },
  { name: 'permutes its result as its sequences are permuted', check: checkPermutation },
  { name: 'is a pure function of its inputs', check: checkPurity },
  { name: 'favours the better trajectory of a group, and none of a uniform one', check: checkSign },
];

interface Float64Batch extends TokenBatch {
  readonly logprobs: Float64Array;
  readonly oldLogprobs: Float64Array;
  readonly advantages: Float64Array;
  readonly lossMask: Float64Array;
  readonly refLogprobs: Float64Array;
  readonly entropy: Float64Array;
}

/** Random sequences of 1 to 6 tokens, a fifth of them masked, ratios on both sides of the clips. */
function randomBatch(seed: number): Float64Batch {
  const random = randomAt(seed, 'algorithm-contract');
  const lengths = Array.from({ length: 6 }, () => 1 + random.integer(6));
  const sequenceOffsets = Int32Array.from([0, ...lengths]);
  for (let s = 1; s <= lengths.length; s++) {
    sequenceOffsets[s] = (sequenceOffsets[s] as number) + (sequenceOffsets[s - 1] as number);
  }
  const N = sequenceOffsets.at(-1) ?? 0;
  const draw = (value: () => number): Float64Array => Float64Array.from({ length: N }, value);
  const oldLogprobs = draw(() => -3 * random.uniform());
  return {
    oldLogprobs,
    logprobs: oldLogprobs.map((logprob) => logprob + 0.6 * random.normal()),
    advantages: draw(() => random.normal()),
    lossMask: draw(() => (random.uniform() < 0.8 ? 1 : 0)),
    refLogprobs: oldLogprobs.map((logprob) => logprob + 0.3 * random.normal()),
    entropy: draw(() => random.uniform()),
    sequenceOffsets,
  };
}

const seeds = [1, 2, 3, 4];

/** Every entropy and KL term switched on too, where the algorithm has one. */
function variants(algorithm: Algorithm): readonly Algorithm[] {
  const extra: Record<string, number> = {};
  for (const name of ['klCoefficient', 'entropyCoefficient']) {
    if (name in algorithm.settings) extra[name] = 0.1;
  }
  return Object.keys(extra).length === 0 ? [algorithm] : [algorithm, algorithm.with(extra)];
}

function checkGradients(algorithm: Algorithm): void {
  const step = 1e-6;
  for (const variant of variants(algorithm)) {
    for (const seed of seeds) {
      const batch = randomBatch(seed);
      const counts = countGlobally([batch]);
      const result = variant.loss(batch, counts);
      const lossAt = (field: 'logprobs' | 'entropy', t: number, delta: number): number => {
        const moved = Float64Array.from(batch[field]);
        moved[t] = (moved[t] as number) + delta;
        return variant.loss({ ...batch, [field]: moved }, counts).loss;
      };
      const compare = (field: 'logprobs' | 'entropy', grads: ArrayLike<number>): void => {
        for (let t = 0; t < batch.logprobs.length; t++) {
          const expected = (lossAt(field, t, step) - lossAt(field, t, -step)) / (2 * step);
          // Gradients are stored as float32.
          expectClose(`∂loss/∂${field}[${t}]`, grads[t] ?? 0, expected, 1e-6);
        }
      };
      compare('logprobs', result.gradLogprobs);
      compare('entropy', result.gradEntropy ?? new Float32Array(batch.entropy.length));
    }
  }
}

function checkMask(algorithm: Algorithm): void {
  for (const variant of variants(algorithm)) {
    const batch = randomBatch(5);
    const counts = countGlobally([batch]);
    const clean = variant.loss(batch, counts);
    for (const poison of [Number.NaN, -1e30, 40]) {
      const poisoned = (values: Float64Array): Float64Array =>
        values.map((value, t) => (batch.lossMask[t] === 0 ? poison : value));
      const dirty = variant.loss(
        {
          ...batch,
          logprobs: poisoned(batch.logprobs),
          oldLogprobs: poisoned(batch.oldLogprobs),
          advantages: poisoned(batch.advantages),
          refLogprobs: poisoned(batch.refLogprobs),
          entropy: poisoned(batch.entropy),
        },
        counts,
      );
      expectSame(`with ${poison} at masked tokens`, dirty, clean);
      batch.lossMask.forEach((mask, t) => {
        if (mask === 0) expectClose(`gradLogprobs[${t}]`, dirty.gradLogprobs[t] ?? 0, 0, 0);
      });
    }
  }
}

function checkSplitting(algorithm: Algorithm): void {
  for (const variant of variants(algorithm)) {
    const batch = randomBatch(6);
    const counts = countGlobally([batch]);
    const whole = variant.loss(batch, counts);
    const sequences = batch.sequenceOffsets.length - 1;
    for (const cut of [1, 3, sequences - 1]) {
      const parts = [sequencesOf(batch, 0, cut), sequencesOf(batch, cut, sequences)];
      const results = parts.map((part) => variant.loss(part, counts));
      expectSame(`split after sequence ${cut}`, joined(results), whole);
      const metrics = finishMetrics(
        results.map((result) => result.metrics),
        counts,
      );
      for (const [name, value] of Object.entries(finishMetrics([whole.metrics], counts))) {
        expectClose(`metric ${name}`, metrics[name] ?? Number.NaN, value, 1e-12);
      }
    }
  }
}

function checkPermutation(algorithm: Algorithm): void {
  const batch = randomBatch(7);
  const counts = countGlobally([batch]);
  const order = [3, 0, 5, 1, 4, 2];
  const parts = order.map((s) => sequencesOf(batch, s, s + 1));
  const permuted = algorithm.loss(concatenated(parts), counts);
  const single = parts.map((part) => algorithm.loss(part, counts));
  expectSame('sequences in another order', permuted, joined(single));
  expectClose('loss', permuted.loss, algorithm.loss(batch, counts).loss, 1e-12);
}

function checkPurity(algorithm: Algorithm): void {
  const batch = randomBatch(8);
  const copy = structuredClone(batch);
  const counts = countGlobally([batch]);
  expectSame('called twice', algorithm.loss(batch, counts), algorithm.loss(batch, counts));
  const rewards = Float64Array.of(1.2, 0, 0, 1);
  algorithm.advantages(rewards);
  if (rewards.join() !== '1.2,0,0,1') throw new Error('advantages() changed the rewards.');
  for (const field of ['logprobs', 'oldLogprobs', 'advantages', 'lossMask', 'entropy'] as const) {
    if (batch[field].join() !== copy[field].join()) throw new Error(`loss() changed ${field}.`);
  }
}

function checkSign(algorithm: Algorithm): void {
  const advantages = algorithm.advantages(Float64Array.of(0, 1.1, 0, 0.3));
  expectLengthOf('advantages', advantages, 4);
  const [worst, best, equal] = advantages;
  if (!((best ?? 0) > 0 && (worst ?? 0) < 0 && worst === equal)) {
    throw new Error(`Rewards 0, 1.1, 0, 0.3 must not give advantages ${advantages.join(', ')}.`);
  }
  for (const uniform of algorithm.advantages(Float64Array.of(1.1, 1.1, 1.1))) {
    expectClose('advantage in a uniform group', uniform, 0, 0);
  }
  const [alone] = algorithm.advantages(Float64Array.of(1));
  if (!Number.isFinite(alone)) throw new Error(`A group of one must not get ${alone}.`);
}

/** Sequences from `first` up to `end` as a batch of their own. */
function sequencesOf(batch: Float64Batch, first: number, end: number): Float64Batch {
  const start = batch.sequenceOffsets[first] as number;
  const stop = batch.sequenceOffsets[end] as number;
  return {
    logprobs: batch.logprobs.slice(start, stop),
    oldLogprobs: batch.oldLogprobs.slice(start, stop),
    advantages: batch.advantages.slice(start, stop),
    lossMask: batch.lossMask.slice(start, stop),
    refLogprobs: batch.refLogprobs.slice(start, stop),
    entropy: batch.entropy.slice(start, stop),
    sequenceOffsets: batch.sequenceOffsets.slice(first, end + 1).map((offset) => offset - start),
  };
}

function concatenated(parts: readonly Float64Batch[]): Float64Batch {
  const join = (field: Exclude<keyof Float64Batch, 'sequenceOffsets'>): Float64Array =>
    Float64Array.from(parts.flatMap((part) => Array.from(part[field])));
  let length = 0;
  const offsets = parts.flatMap((part) => {
    const own = Array.from(part.sequenceOffsets.slice(1), (offset) => offset + length);
    length += part.logprobs.length;
    return own;
  });
  return {
    logprobs: join('logprobs'),
    oldLogprobs: join('oldLogprobs'),
    advantages: join('advantages'),
    lossMask: join('lossMask'),
    refLogprobs: join('refLogprobs'),
    entropy: join('entropy'),
    sequenceOffsets: Int32Array.from([0, ...offsets]),
  };
}

function joined(results: readonly AlgorithmResult[]): Omit<AlgorithmResult, 'metrics'> {
  const gradEntropy = results.flatMap((result) => Array.from(result.gradEntropy ?? []));
  return {
    loss: results.reduce((sum, result) => sum + result.loss, 0),
    gradLogprobs: Float32Array.from(results.flatMap((result) => Array.from(result.gradLogprobs))),
    ...(gradEntropy.length > 0 && { gradEntropy: Float32Array.from(gradEntropy) }),
  };
}

function expectSame(
  where: string,
  got: Omit<AlgorithmResult, 'metrics'>,
  expected: Omit<AlgorithmResult, 'metrics'>,
): void {
  expectClose(`loss ${where}`, got.loss, expected.loss, 1e-12);
  for (const field of ['gradLogprobs', 'gradEntropy'] as const) {
    const [values, wanted] = [got[field], expected[field]];
    expectLengthOf(`${field} ${where}`, values ?? [], wanted?.length ?? 0);
    wanted?.forEach((value, t) => {
      expectClose(`${field}[${t}] ${where}`, values?.[t] ?? Number.NaN, value, 0);
    });
  }
}

function expectLengthOf(what: string, values: ArrayLike<number>, expected: number): void {
  if (values.length === expected) return;
  throw new Error(`${what} must have length ${expected}, has ${values.length}.`);
}

/** Absolute plus relative tolerance; NaN is never close. */
function expectClose(what: string, got: number, expected: number, tolerance: number): void {
  if (Math.abs(got - expected) <= tolerance * (1 + Math.abs(expected))) return;
  throw new Error(`${what} must be ${expected} within ${tolerance}, is ${got}.`);
}
