/** Random steps for the contract, with every input; a step can be split and reordered. */
import { randomAt } from '@saccade/core';
import type { Algorithm, GlobalCounts, ScoredGroup, Step, TokenBatch } from './algorithm.ts';
import { prepareStep, selectTokens } from './pipeline.ts';
import { membersByGroup, trainedCounts } from './sequences.ts';

/** A step with every input in float64, and the current policy's outputs. */
export interface SampledStep extends Step {
  readonly lossMask: Float64Array;
  readonly rewards: Float64Array;
  readonly values: Float64Array;
  readonly turns: Int32Array;
  readonly turnOffsets: Int32Array;
  readonly turnRewards: Float64Array;
  readonly oldLogprobs: Float64Array;
  readonly rolloutLogprobs: Float64Array;
  readonly refLogprobs: Float64Array;
  readonly sumSquaredProbs: Float64Array;
  /** [S] a component of the reward. */
  readonly accuracy: Float64Array;
  /** [groups in order of their first sequence] reward of the greedy answer. */
  readonly greedy: Float64Array;
  /** [N] nats, current policy. */
  readonly logprobs: Float64Array;
  /** [N] nats, current policy. */
  readonly entropy: Float64Array;
  /** [N] the value function's current prediction. */
  readonly currentValues: Float64Array;
}

/** The reward every task's greedy answer has. */
export const GREEDY_REWARD = 0.4;

/** The per-token inputs, in float64. */
export const tokenFields = [
  'lossMask',
  'values',
  'oldLogprobs',
  'rolloutLogprobs',
  'refLogprobs',
  'sumSquaredProbs',
  'logprobs',
  'entropy',
  'currentValues',
] as const;

/** Six sequences of 1 to 6 tokens in two groups, a fifth of the tokens masked. */
export function randomStep(seed: number): SampledStep {
  const random = randomAt(seed, 'algorithm-contract');
  const lengths = Array.from({ length: 6 }, () => 1 + random.integer(6));
  const sequenceOffsets = offsetsOf(lengths);
  const N = sequenceOffsets.at(-1) ?? 0;
  const draw = (value: () => number): Float64Array => Float64Array.from({ length: N }, value);
  const near = (values: Float64Array, spread: number): Float64Array =>
    values.map((value) => value + spread * random.normal());
  const oldLogprobs = draw(() => -0.05 - 3 * random.uniform());
  const turnCounts = lengths.map((length) => 1 + random.integer(Math.min(length, 3)));
  const turns = lengths.flatMap((length, s) => {
    const count = turnCounts[s] as number;
    return Array.from({ length }, (_, i) => Math.min(Math.floor((i * count) / length), count - 1));
  });
  const accuracy = Float64Array.from(lengths, () => random.integer(2));
  const values = draw(() => random.uniform());
  return {
    sequenceOffsets,
    lossMask: draw(() => (random.uniform() < 0.8 ? 1 : 0)),
    groups: Int32Array.of(0, 1, 0, 1, 1, 1),
    accuracy,
    greedy: Float64Array.of(GREEDY_REWARD, GREEDY_REWARD),
    rewards: accuracy.map((right) => right + random.uniform()),
    sequenceAdvantages: new Float64Array(lengths.length),
    values,
    currentValues: near(values, 0.4),
    turns: Int32Array.from(turns),
    turnOffsets: offsetsOf(turnCounts),
    turnRewards: Float64Array.from({ length: sum(turnCounts) }, () => -0.5 * random.integer(2)),
    oldLogprobs,
    logprobs: belowZero(near(oldLogprobs, 0.6)),
    rolloutLogprobs: near(oldLogprobs, 0.3),
    refLogprobs: near(oldLogprobs, 0.3),
    sumSquaredProbs: draw(() => random.uniform()),
    entropy: draw(() => random.uniform()),
  };
}

/** The same step with its groups' advantages. */
export function withGroupAdvantages(algorithm: Algorithm, step: SampledStep): SampledStep {
  const sequenceAdvantages = new Float64Array(step.rewards.length);
  const lengths = trainedCounts(step.lossMask, step.sequenceOffsets);
  for (const [index, members] of membersByGroup(step.groups).entries()) {
    const of = (values: Float64Array): Float64Array =>
      Float64Array.from(members, (s) => values[s] as number);
    const group: ScoredGroup = {
      rewards: of(step.rewards),
      tokenCounts: of(lengths),
      terms: {
        accuracy: of(step.accuracy),
        bonus: of(step.rewards.map((reward, s) => reward - (step.accuracy[s] as number))),
      },
      greedyReward: step.greedy[index] ?? GREEDY_REWARD,
    };
    algorithm.groupAdvantages(group).forEach((advantage, i) => {
      sequenceAdvantages[members[i] as number] = advantage;
    });
  }
  return { ...step, sequenceAdvantages };
}

/** The arrays of a batch the contract reads, in float64. */
export interface Float64Batch extends TokenBatch<Float64Array> {
  readonly advantages: Float64Array;
  readonly values: Float64Array;
  readonly entropy: Float64Array;
  readonly oldLogprobs: Float64Array;
  readonly lossMask: Float64Array;
}

/** All stages of a step up to its loss. */
export function batchOf(
  algorithm: Algorithm,
  step: SampledStep,
): { batch: Float64Batch; counts: GlobalCounts; metrics: Readonly<Record<string, number>> } {
  const { batch, counts, metrics } = prepareStep(algorithm, withGroupAdvantages(algorithm, step));
  const { logprobs, entropy, currentValues } = step;
  const current = { ...batch, logprobs, entropy, values: currentValues };
  const selected = selectTokens(algorithm, current as Float64Batch, counts);
  return { ...selected, metrics };
}

/** Sequences of a step, in the given order, as a separate step. */
export function sequencesOf(step: SampledStep, order: readonly number[]): SampledStep {
  const perSequence = <Values extends Float64Array | Int32Array>(values: Values): Values =>
    gathered(values, order);
  const tokens = indicesOf(step.sequenceOffsets, order);
  const turnIndices = indicesOf(step.turnOffsets, order);
  const fields = tokenFields.map((field) => [field, gathered(step[field], tokens)] as const);
  return {
    ...step,
    ...(Object.fromEntries(fields) as Pick<SampledStep, (typeof tokenFields)[number]>),
    sequenceOffsets: offsetsOf(lengthsOf(step.sequenceOffsets, order)),
    groups: perSequence(step.groups),
    accuracy: perSequence(step.accuracy),
    rewards: perSequence(step.rewards),
    sequenceAdvantages: gathered(Float64Array.from(step.sequenceAdvantages), order),
    turns: gathered(step.turns, tokens),
    turnOffsets: offsetsOf(lengthsOf(step.turnOffsets, order)),
    turnRewards: gathered(step.turnRewards, turnIndices),
  };
}

/** Sequences of a batch as a separate batch, that is, a micro-batch. */
export function microBatch(batch: Float64Batch, order: readonly number[]): Float64Batch {
  const tokens = indicesOf(batch.sequenceOffsets, order);
  const cut = Object.entries(batch).map(([name, values]) => [
    name,
    name === 'sequenceOffsets'
      ? offsetsOf(lengthsOf(batch.sequenceOffsets, order))
      : gathered(values, tokens),
  ]);
  return Object.fromEntries(cut);
}

/** Flat indices of the tokens of sequences, in the order given. */
export function indicesOf(offsets: Int32Array, order: readonly number[]): readonly number[] {
  return order.flatMap((s) => {
    const start = offsets[s] as number;
    return Array.from({ length: (offsets[s + 1] as number) - start }, (_, i) => start + i);
  });
}

function gathered<Values extends Float64Array | Int32Array | Uint8Array>(
  values: Values,
  indices: readonly number[],
): Values {
  const result = values.slice(0, 0).constructor as new (length: number) => Values;
  const picked = new result(indices.length);
  indices.forEach((from, to) => {
    picked[to] = values[from] as number;
  });
  return picked;
}

function lengthsOf(offsets: Int32Array, order: readonly number[]): readonly number[] {
  return order.map((s) => (offsets[s + 1] as number) - (offsets[s] as number));
}

function offsetsOf(lengths: readonly number[]): Int32Array {
  let end = 0;
  return Int32Array.from([
    0,
    ...lengths.map((length) => {
      end += length;
      return end;
    }),
  ]);
}

function belowZero(values: Float64Array): Float64Array {
  return values.map((value) => Math.min(value, -1e-3));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
