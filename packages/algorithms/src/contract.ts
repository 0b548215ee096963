/**
 * The checks that every algorithm must pass; each throws an Error that names the fault.
 *
 *   for (const { name, check } of algorithmContract) test(name, () => check(myAlgorithm));
 */
import { ConfigError, DataError } from '@saccade/core';
import type { Algorithm, AlgorithmResult, AlgorithmSettings } from './algorithm.ts';
import {
  batchOf,
  GREEDY_REWARD,
  indicesOf,
  microBatch,
  randomStep,
  type SampledStep,
  sequencesOf,
  tokenFields,
  withGroupAdvantages,
} from './contract-step.ts';
import { finishMetrics } from './metrics.ts';

/** One requirement on an algorithm, as a function that any test runner can run. */
export interface AlgorithmCheck {
  /** The sentence it proves. */
  readonly name: string;
  /** @throws Error naming the stage, the element and both values */
  check(algorithm: Algorithm): void;
}

/**
 * The checks of every algorithm, on random steps, in all its profiles and with every term switched
 * on: gradients, masking, splitting, permutation, purity, sign, required inputs, and errors.
 */
export const algorithmContract: readonly AlgorithmCheck[] = [
  { name: 'gives gradients equal to central differences in float64', check: checkGradients },
  { name: 'gives masked tokens no loss and no gradient, whatever they hold', check: checkMask },
  { name: 'does not change when a step is split into micro-batches', check: checkSplitting },
  { name: 'permutes its result as its sequences are permuted', check: checkPermutation },
  { name: 'is a pure function of its inputs', check: checkPurity },
  {
    name: 'favors the better trajectory of a group, and none of a uniform step',
    check: checkSign,
  },
  { name: 'needs what it says, and names what is missing', check: checkNeeds },
  {
    name: 'refuses rewards that are not numbers, and settings it does not have',
    check: checkDoors,
  },
];

type Gradient = 'logprobs' | 'entropy' | 'values';

/** The algorithm unchanged, in each profile, with every term switched on, and with a correction. */
function variants(algorithm: Algorithm): readonly Algorithm[] {
  const known = (changes: AlgorithmSettings): AlgorithmSettings =>
    Object.fromEntries(Object.entries(changes).filter(([name]) => name in algorithm.settings));
  const terms = known({
    klCoefficient: 0.1,
    klPlace: 'loss',
    klImportance: !algorithm.isRatioConstant,
    entropyCoefficient: 0.1,
    topEntropyShare: 0.6,
  });
  const corrected = known({
    klCoefficient: 0.1,
    klPlace: algorithm.signal === 'reward' ? 'reward' : 'loss',
    // A ratio to the sampler is a correction already.
    correction: isToSampler(algorithm) ? 'none' : 'truncate',
    rejection: 'sequence-mean-k2',
    rejectionHigh: 0.06,
  });
  const all = [algorithm, ...algorithm.profiles.map((name) => algorithm.profile(name))];
  for (const changes of [terms, corrected]) {
    if (Object.keys(changes).length > 0) all.push(algorithm.with(changes));
  }
  return all;
}

function checkGradients(algorithm: Algorithm): void {
  const delta = 1e-5;
  for (const variant of variants(algorithm)) {
    for (const seed of [1, 2]) {
      const { batch, counts } = batchOf(variant, randomStep(seed));
      const result = variant.loss(batch, counts);
      const lossAt = (field: Gradient, t: number, by: number): number => {
        const moved = { ...batch, [field]: movedAt(batch[field], t, by) };
        // A constant ratio does not change if both policies move together.
        if (field === 'logprobs' && variant.isRatioConstant) {
          moved.oldLogprobs = movedAt(batch.oldLogprobs, t, by);
          if (isToSampler(variant) && batch.rolloutLogprobs) {
            moved.rolloutLogprobs = movedAt(Float64Array.from(batch.rolloutLogprobs), t, by);
          }
        }
        return variant.loss(moved, counts).loss;
      };
      const compare = (field: Gradient, grads: ArrayLike<number> | undefined): void => {
        for (let t = 0; t < batch.logprobs.length; t++) {
          const expected = (lossAt(field, t, delta) - lossAt(field, t, -delta)) / (2 * delta);
          expectClose(`∂loss/∂${field}[${t}]`, grads?.[t] ?? 0, expected, 1e-8);
        }
      };
      compare('logprobs', result.gradLogprobs);
      compare('entropy', result.gradEntropy);
      compare('values', result.gradValues);
    }
  }
}

/** Whether the ratio compares with the engine that sampled, so that both move with it. */
function isToSampler({ settings }: Algorithm): boolean {
  return String(settings.ratio).startsWith('behavior');
}

function movedAt(values: Float64Array, t: number, by: number): Float64Array {
  const moved = values.slice();
  moved[t] = (moved[t] as number) + by;
  return moved;
}

function checkMask(algorithm: Algorithm): void {
  for (const variant of variants(algorithm)) {
    const step = randomStep(5);
    const clean = batchOf(variant, step);
    const expected = variant.loss(clean.batch, clean.counts);
    for (const poison of [Number.NaN, -1e30, 40]) {
      const where = `with ${poison} at masked tokens`;
      const dirty = batchOf(variant, poisoned(step, poison));
      expectSameArray(`advantages ${where}`, dirty.batch.advantages, clean.batch.advantages, 0);
      expectSameMetrics(where, dirty.metrics, clean.metrics, 0);
      const got = variant.loss(dirty.batch, dirty.counts);
      expectSame(where, got, expected, 1e-12);
      expectSameMetrics(where, got.metrics, expected.metrics, 0);
      dirty.batch.lossMask.forEach((mask, t) => {
        if (mask === 0) expectClose(`gradLogprobs[${t}]`, got.gradLogprobs[t] ?? 0, 0, 0);
      });
    }
  }
}

function poisoned(step: SampledStep, poison: number): SampledStep {
  const spoil = (values: Float64Array): Float64Array =>
    values.map((value, t) => (step.lossMask[t] === 0 ? poison : value));
  const fields = tokenFields
    .filter((field) => field !== 'lossMask')
    .map((field) => [field, spoil(step[field])] as const);
  return { ...step, ...Object.fromEntries(fields) };
}

function checkSplitting(algorithm: Algorithm): void {
  for (const variant of variants(algorithm)) {
    const { batch, counts } = batchOf(variant, randomStep(6));
    const whole = variant.loss(batch, counts);
    const all = Array.from({ length: batch.sequenceOffsets.length - 1 }, (_, s) => s);
    for (const cut of [1, 3, all.length - 1]) {
      const parts = [all.slice(0, cut), all.slice(cut)].map((own) => microBatch(batch, own));
      const results = parts.map((part) => variant.loss(part, counts));
      expectSame(`split after sequence ${cut}`, joined(results), whole, 1e-12);
      const metrics = finishMetrics(
        results.map((result) => result.metrics),
        counts,
      );
      expectSameMetrics('of the parts', metrics, finishMetrics([whole.metrics], counts), 1e-12);
    }
  }
}

function checkPermutation(algorithm: Algorithm): void {
  const order = [3, 0, 5, 1, 4, 2];
  for (const variant of variants(algorithm)) {
    const step = randomStep(7);
    const straight = batchOf(variant, step);
    const permuted = batchOf(variant, sequencesOf(step, order));
    const tokens = indicesOf(step.sequenceOffsets, order);
    const expected = tokens.map((t) => straight.batch.advantages[t] as number);
    expectSameArray('advantages in another order', permuted.batch.advantages, expected, 1e-12);
    const got = variant.loss(permuted.batch, permuted.counts);
    const before = variant.loss(straight.batch, straight.counts);
    expectClose('loss in another order', got.loss, before.loss, 1e-12);
    const grads = tokens.map((t) => before.gradLogprobs[t] as number);
    expectSameArray('gradLogprobs in another order', got.gradLogprobs, grads, 1e-12);
  }
}

function checkPurity(algorithm: Algorithm): void {
  for (const variant of variants(algorithm)) {
    const step = randomStep(8);
    const copy = structuredClone(step);
    const { batch, counts } = batchOf(variant, step);
    const before = structuredClone(batch);
    expectSame('called twice', variant.loss(batch, counts), variant.loss(batch, counts), 0);
    for (const [given, kept] of [
      [step, copy],
      [batch, before],
    ] as const) {
      for (const [name, values] of Object.entries(kept)) {
        const now = (given as unknown as Record<string, ArrayLike<number>>)[name] ?? [];
        if (Array.from(now).join() !== Array.from(values as ArrayLike<number>).join()) {
          throw new Error(`A stage changed ${name}.`);
        }
      }
    }
  }
}

function checkSign(algorithm: Algorithm): void {
  const still = { ...randomStep(9), turnRewards: new Float64Array(0) };
  const step: SampledStep = {
    ...still,
    turnRewards: new Float64Array(still.turnOffsets.at(-1) ?? 0),
    lossMask: still.lossMask.fill(1),
    values: still.values.fill(0.5),
    oldLogprobs: still.oldLogprobs.fill(-1),
    sumSquaredProbs: still.sumSquaredProbs.fill(0.3),
    accuracy: Float64Array.of(0, 0, 1, 1, 0, 0),
    rewards: Float64Array.of(0, 0, 1.1, 1.1, 0, 0.3),
  };
  if (algorithm.signal === 'teacher') {
    checkTeacher(algorithm, step);
    return;
  }
  const first = (given: SampledStep): number[] => {
    const { advantages } = algorithm.tokenAdvantages(withGroupAdvantages(algorithm, given));
    return [0, 1, 2, 3, 4].map((s) => advantages[given.sequenceOffsets[s] as number] as number);
  };
  const [, worst = 0, , best = 0, equal = 0] = first(step);
  if (!(best > worst && Math.abs(worst - equal) < 1e-12)) {
    throw new Error(`Rewards 0, 1.1, 0 must not give advantages ${worst}, ${best}, ${equal}.`);
  }
  // A value function is not a baseline of the group.
  if (algorithm.needs.includes('values')) return;
  const uniform = {
    ...step,
    rewards: step.rewards.fill(GREEDY_REWARD),
    accuracy: step.accuracy.fill(GREEDY_REWARD),
  };
  for (const advantage of first(uniform)) {
    expectClose('advantage in a uniform step', advantage, 0, 1e-7);
  }
}

/**
 * A token that the teacher finds more likely must gain, and one that it finds less likely must
 * lose.
 */
function checkTeacher(algorithm: Algorithm, step: SampledStep): void {
  const refLogprobs = step.oldLogprobs.map((logprob, t) => logprob + (t % 2 === 0 ? 0.5 : -0.5));
  const { advantages } = algorithm.tokenAdvantages({ ...step, refLogprobs });
  advantages.forEach((advantage, t) => {
    if (t % 2 === 0 ? advantage > 0 : advantage < 0) return;
    throw new Error(`The teacher's log-ratio at token ${t} must not give advantage ${advantage}.`);
  });
}

function checkNeeds(algorithm: Algorithm): void {
  const full = randomStep(10);
  const optional = ['refLogprobs', 'rolloutLogprobs', 'values', 'sumSquaredProbs'] as const;
  const turnInputs = ['turns', 'turnOffsets', 'turnRewards'] as const;
  const without = (names: readonly string[]): SampledStep =>
    Object.fromEntries(
      Object.entries(full).filter(([name]) => !names.includes(name)),
    ) as unknown as SampledStep;
  const run = (step: SampledStep): void => {
    const { batch, counts } = batchOf(algorithm, step);
    algorithm.loss(batch, counts);
  };
  run(without([...optional, ...turnInputs].filter((name) => !algorithm.needs.includes(name))));
  for (const name of [...optional, ...turnInputs]) {
    if (!algorithm.needs.includes(name)) continue;
    expectError(`a step without ${name}`, ConfigError, name, () => run(without([name])));
  }
}

function checkDoors(algorithm: Algorithm): void {
  const group = {
    tokenCounts: [3, 4],
    greedyReward: 0,
    terms: { accuracy: Float64Array.of(0, 1) },
  };
  expectError('a reward of NaN', DataError, 'rewards[1] is NaN', () =>
    algorithm.groupAdvantages({ ...group, rewards: Float64Array.of(1, Number.NaN) }),
  );
  const masked = { ...randomStep(11), lossMask: new Float64Array(randomStep(11).lossMask.length) };
  expectError('a mask of zeros', DataError, 'nothing to train on', () =>
    algorithm.tokenAdvantages(masked),
  );
  expectError('an unknown setting', ConfigError, 'Known: ', () => algorithm.with({ clipHi: 0.2 }));
  expectError('an unknown profile', ConfigError, 'Known: ', () => algorithm.profile('verll'));
  try {
    const alone = { ...group, rewards: Float64Array.of(1), tokenCounts: [3] };
    const terms = { accuracy: Float64Array.of(1) };
    const [advantage] = algorithm.groupAdvantages({ ...alone, terms });
    if (!Number.isFinite(advantage)) throw new Error(`A group of one must not get ${advantage}.`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
}

function expectError(
  what: string,
  kind: new (...args: never[]) => Error,
  text: string,
  work: () => unknown,
): void {
  try {
    work();
  } catch (error) {
    if (error instanceof kind && error.message.includes(text)) return;
    throw new Error(`For ${what} expected ${kind.name} with "${text}", got ${error}.`);
  }
  throw new Error(`For ${what} expected ${kind.name}, got no error.`);
}

type Numbers = Omit<AlgorithmResult, 'metrics'>;

function joined(results: readonly AlgorithmResult[]): Numbers {
  const all = (field: 'gradLogprobs' | 'gradEntropy' | 'gradValues'): Float64Array =>
    Float64Array.from(results.flatMap((result) => Array.from(result[field] ?? [])));
  return {
    loss: results.reduce((sum, result) => sum + result.loss, 0),
    gradLogprobs: all('gradLogprobs'),
    gradEntropy: all('gradEntropy'),
    gradValues: all('gradValues'),
  };
}

function expectSame(where: string, got: Numbers, expected: Numbers, tolerance: number): void {
  expectClose(`loss ${where}`, got.loss, expected.loss, tolerance);
  for (const field of ['gradLogprobs', 'gradEntropy', 'gradValues'] as const) {
    expectSameArray(`${field} ${where}`, got[field] ?? [], expected[field] ?? [], 0);
  }
}

function expectSameArray(
  what: string,
  got: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
): void {
  if (got.length !== expected.length) {
    throw new Error(`${what} must have length ${expected.length}, has ${got.length}.`);
  }
  for (let t = 0; t < expected.length; t++) {
    expectClose(`${what} [${t}]`, got[t] as number, expected[t] as number, tolerance);
  }
}

function expectSameMetrics(
  where: string,
  got: Readonly<Record<string, number>>,
  expected: Readonly<Record<string, number>>,
  tolerance: number,
): void {
  for (const [name, value] of Object.entries(expected)) {
    expectClose(`metric ${name} ${where}`, got[name] ?? Number.NaN, value, tolerance);
  }
}

/** Absolute plus relative tolerance; NaN is never close. */
function expectClose(what: string, got: number, expected: number, tolerance: number): void {
  if (got === expected || Math.abs(got - expected) <= tolerance * (1 + Math.abs(expected))) return;
  throw new Error(`${what} must be ${expected} within ${tolerance}, is ${got}.`);
}
