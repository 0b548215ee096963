/** What the stages refuse before any work: every error says the fact, then the remedy. */
import { ConfigError, DataError, expectLength, ShapeError } from '@saccade/core';
import type { GlobalCounts, ScoredGroup, Step, TokenBatch } from './algorithm.ts';

/** @throws DataError for a reward that is not a number; ShapeError if terms do not fit */
export function checkGroup({ rewards, terms }: ScoredGroup): void {
  for (const [name, values] of Object.entries({ rewards, ...terms })) {
    expectLength(name, values.length, rewards.length);
    const broken = values.findIndex((value) => !Number.isFinite(value));
    if (broken < 0) continue;
    throw new DataError(
      `${name}[${broken}] is ${values[broken]}. A trajectory that could not be scored has no ` +
        'reward: leave it out of its group.',
    );
  }
}

/** @throws ShapeError if parts do not fit; DataError if no token trains or a reward is no number */
export function checkStep(step: Step): void {
  const { sequenceOffsets, lossMask, groups, sequenceAdvantages, rewards } = step;
  const S = sequenceOffsets.length - 1;
  checkOffsets(sequenceOffsets, lossMask.length);
  for (const [name, values] of Object.entries({ groups, sequenceAdvantages, rewards })) {
    expectLength(name, values.length, S);
  }
  const { tokenRewards, values, oldLogprobs, rolloutLogprobs, refLogprobs, sumSquaredProbs } = step;
  expectLengths(lossMask.length, {
    tokenRewards,
    values,
    oldLogprobs,
    rolloutLogprobs,
    refLogprobs,
    sumSquaredProbs,
  });
  checkGroup({ rewards });
  if (lossMask.every((mask) => mask === 0)) {
    throw new DataError(
      'lossMask is 0 at every token: there is nothing to train on. Skip this step.',
    );
  }
}

/** @throws ShapeError if parts do not fit; ConfigError naming an input a term needs */
export function checkBatch(
  batch: TokenBatch,
  counts: GlobalCounts,
  needed: readonly (readonly [keyof TokenBatch, string])[],
): void {
  const { logprobs, oldLogprobs, advantages, lossMask, sequenceOffsets } = batch;
  const { refLogprobs, rolloutLogprobs, entropy, tokenWeights, marks } = batch;
  const { values, oldValues, returns } = batch;
  expectLengths(logprobs.length, {
    oldLogprobs,
    advantages,
    lossMask,
    refLogprobs,
    rolloutLogprobs,
    entropy,
    tokenWeights,
    marks,
    values,
    oldValues,
    returns,
  });
  checkOffsets(sequenceOffsets, logprobs.length);
  for (const [input, why] of needed) {
    if (batch[input] !== undefined) continue;
    throw new ConfigError(input, `${why}, but the batch has no ${input}. ${remedies[input] ?? ''}`);
  }
  if (!(counts.tokens > 0) && lossMask.some((mask) => mask !== 0)) {
    throw new ShapeError(
      `counts.tokens is ${counts.tokens}, but tokens of this batch train. ` +
        'Count the whole minibatch with countGlobally before splitting it.',
    );
  }
}

const remedies: Partial<Record<keyof TokenBatch, string>> = {
  refLogprobs: 'Score it with the reference policy, or set klCoefficient to 0.',
  entropy: 'Pass the entropies the policy gives, or turn that setting off.',
  values: 'Pass what the value function gives now.',
  oldValues: 'Keep what the value function gave at the start of the step.',
  returns: 'Pass the returns that tokenAdvantages gave.',
  marks: 'Pass the marks that select gave for the whole minibatch.',
  rolloutLogprobs: 'Keep the log-probs of the engine that sampled.',
};

function checkOffsets(offsets: Int32Array, N: number): void {
  if (offsets[0] !== 0 || offsets.at(-1) !== N) {
    throw new ShapeError(
      `sequenceOffsets must run from 0 to ${N}, it runs from ${offsets[0]} to ${offsets.at(-1)}.`,
    );
  }
  const back = offsets.findIndex((offset, s) => s > 0 && offset < (offsets[s - 1] as number));
  if (back > 0) {
    throw new ShapeError(
      `sequenceOffsets must not fall, but after ${offsets[back - 1]} comes ${offsets[back]}. ` +
        'Give the first token of each sequence, in order.',
    );
  }
}

function expectLengths(
  N: number,
  arrays: Readonly<Record<string, ArrayLike<number> | undefined>>,
): void {
  for (const [name, values] of Object.entries(arrays)) {
    if (values !== undefined) expectLength(name, values.length, N);
  }
}
