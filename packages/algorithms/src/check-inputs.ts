/** Refuses broken inputs before any work: every error states the fact, then the remedy. */
import { ConfigError, DataError, expectLength, ShapeError } from '@saccade/core';
import type { FloatArray, GlobalCounts, ScoredGroup, Step, TokenBatch } from './algorithm.ts';

type Numbers = ArrayLike<number>;

/**
 * @throws DataError naming a reward, component, weight, count or greedy reward that is not finite;
 *   ShapeError if lengths do not fit; ConfigError for the weight of a component that does not exist
 */
export function checkGroup(group: ScoredGroup): void {
  const { rewards, terms, termWeights, tokenCounts, greedyReward } = group;
  for (const [name, values] of Object.entries({ rewards, ...prefixed('terms', terms) })) {
    expectLength(name, values.length, rewards.length);
    checkFinite(name, values, 'A trajectory without a score must be left out of its group.');
  }
  for (const [name, weight] of Object.entries(termWeights ?? {})) {
    checkNumber(`termWeights.${name}`, weight);
    if (Object.hasOwn(terms ?? {}, name)) continue;
    const known = Object.keys(terms ?? {}).join(', ') || 'none';
    throw new ConfigError(
      `termWeights.${name}`,
      `termWeights has a weight for "${name}", and the group has no such term. Known: ${known}.`,
    );
  }
  if (tokenCounts !== undefined) {
    expectLength('tokenCounts', tokenCounts.length, rewards.length);
    checkFinite('tokenCounts', tokenCounts);
    refuseWhere('tokenCounts', tokenCounts, (count) => count < 0, 'Counts are at least 0.');
  }
  if (greedyReward !== undefined) checkNumber('greedyReward', greedyReward);
}

function prefixed(
  prefix: string,
  arrays: Readonly<Record<string, FloatArray>> = {},
): Record<string, FloatArray> {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, values]) => [`${prefix}.${name}`, values]),
  );
}

/**
 * @throws ShapeError if lengths do not fit; DataError if no token trains, or naming a value that is not
 *   finite
 */
export function checkStep(step: Step): void {
  const { sequenceOffsets, lossMask, groups, sequenceAdvantages, rewards } = step;
  const S = sequenceOffsets.length - 1;
  checkOffsets('sequenceOffsets', sequenceOffsets, lossMask.length);
  for (const [name, values] of Object.entries({ groups, sequenceAdvantages, rewards })) {
    expectLength(name, values.length, S);
  }
  const { oldLogprobs, rolloutLogprobs, refLogprobs, rewardMask } = step;
  const { tokenRewards, values, sumSquaredProbs, tokenWeights } = step;
  checkMask('lossMask', lossMask);
  if (rewardMask) {
    expectLength('rewardMask', rewardMask.length, lossMask.length);
    checkMask('rewardMask', rewardMask);
  }
  const logprobs = { oldLogprobs, rolloutLogprobs, refLogprobs };
  checkTokens({ ...logprobs, tokenRewards, values, sumSquaredProbs, tokenWeights }, lossMask);
  checkFinite('rewards', rewards, 'A trajectory without a score must be left out of the step.');
  checkFinite('sequenceAdvantages', sequenceAdvantages);
  const { turnRewards, turnOffsets } = step;
  if (turnRewards) checkFinite('turnRewards', turnRewards);
  if (turnOffsets && turnRewards) {
    expectLength('turnOffsets', turnOffsets.length, S + 1);
    checkOffsets('turnOffsets', turnOffsets, turnRewards.length);
  }
  if (lossMask.every((mask) => mask === 0)) {
    throw new DataError(
      'lossMask is 0 at every token: there is nothing to train on. Skip this step.',
    );
  }
}

/** @throws ShapeError if lengths do not fit; DataError naming a value that is not finite */
export function checkMinibatch(batch: TokenBatch): void {
  const { logprobs, oldLogprobs, advantages, lossMask, sequenceOffsets } = batch;
  const { refLogprobs, rolloutLogprobs, entropy, tokenWeights, marks } = batch;
  const { values, oldValues, returns } = batch;
  expectLength('lossMask', lossMask.length, logprobs.length);
  checkOffsets('sequenceOffsets', sequenceOffsets, logprobs.length);
  checkMask('lossMask', lossMask);
  const policies = { logprobs, oldLogprobs, refLogprobs, rolloutLogprobs };
  const others = { advantages, entropy, tokenWeights, marks, values, oldValues, returns };
  checkTokens({ ...policies, ...others }, lossMask);
}

/** The same as `checkMinibatch`, and ConfigError naming an input that a term needs. */
export function checkBatch(
  batch: TokenBatch,
  counts: GlobalCounts,
  needed: readonly (readonly [keyof TokenBatch, string])[],
): void {
  checkMinibatch(batch);
  for (const [input, why] of needed) {
    if (batch[input] !== undefined) continue;
    throw new ConfigError(input, `${why}, but the batch has no ${input}. ${remedies[input] ?? ''}`);
  }
  const { emptySequences, selectedTokens, tokens, sequences } = counts;
  for (const [name, count] of Object.entries({
    tokens,
    sequences,
    emptySequences,
    selectedTokens,
  })) {
    if (count === undefined || (Number.isFinite(count) && count >= 0)) continue;
    throw new DataError(`counts.${name} is ${count}. Counts are finite numbers of at least 0.`);
  }
  if (!(tokens > 0 && sequences > 0) && batch.lossMask.some((mask) => mask !== 0)) {
    const name = tokens > 0 ? 'sequences' : 'tokens';
    throw new ShapeError(
      `counts.${name} is ${counts[name]}, but tokens of this batch train. ` +
        'Count the whole minibatch with countGlobally before splitting it.',
    );
  }
}

const remedies: Partial<Record<keyof TokenBatch, string>> = {
  refLogprobs: 'Score it with the reference policy, or set klCoefficient to 0.',
  entropy: 'Pass the entropies the policy gives, or turn that setting off.',
  values: 'Pass the current output of the value function.',
  oldValues: 'Keep the output of the value function from the start of the step.',
  returns: 'Pass the returns that tokenAdvantages gave.',
  marks: 'Pass the marks that select gave for the whole minibatch.',
  rolloutLogprobs: 'Keep the log-probs of the engine that sampled.',
};

/**
 * Refuses a loss or gradient that overflowed, and names the token. The cause is an unbounded ratio
 * or an exponential KL estimate at extreme log-probs.
 */
export function checkResult(
  batch: TokenBatch,
  result: { readonly loss: number; readonly gradLogprobs: Numbers; readonly gradValues: Numbers },
): void {
  const { loss, gradLogprobs, gradValues } = result;
  const isBroken = (values: Numbers): boolean => firstWhere(values, isNotFinite) >= 0;
  if (Number.isFinite(loss) && !isBroken(gradLogprobs) && !isBroken(gradValues)) return;
  const found = firstWhere(gradLogprobs, isNotFinite);
  const t = found >= 0 ? found : furthestToken(batch);
  const { logprobs, oldLogprobs, refLogprobs, advantages } = batch;
  throw new DataError(
    `The loss or its gradient is not finite (loss ${loss}); at token ${t} logprobs is ` +
      `${logprobs[t]}, oldLogprobs ${oldLogprobs[t]}, advantages ${advantages[t]}` +
      `${refLogprobs ? `, refLogprobs ${refLogprobs[t]}` : ''}. ` +
      'Bound the ratio (maxLogRatio, dualClip), take kl "k3-bounded", or drop this sequence.',
  );
}

/** The token where the policies, or value and return, differ most. */
function furthestToken({ logprobs, oldLogprobs, refLogprobs, lossMask }: TokenBatch): number {
  let [furthest, distance] = [0, -1];
  for (let t = 0; t < logprobs.length; t++) {
    if (lossMask[t] === 0) continue;
    const now = logprobs[t] as number;
    const own = Math.max(
      Math.abs(now - (oldLogprobs[t] as number)),
      Math.abs(now - (refLogprobs?.[t] ?? now)),
    );
    if (own > distance) [furthest, distance] = [t, own];
  }
  return furthest;
}

/** @throws DataError naming the first value that is NaN or infinite */
export function checkFinite(
  name: string,
  values: Numbers,
  remedy = 'Only finite numbers can be trained on.',
): void {
  refuseWhere(name, values, isNotFinite, remedy);
}

function checkNumber(name: string, value: number): void {
  if (isNotFinite(value)) throw new DataError(`${name} is ${value}. It must be a finite number.`);
}

/** Checks the lengths of arrays of tokens, and their values where the mask is not 0. */
export function checkTokens(
  arrays: Readonly<Record<string, Numbers | undefined>>,
  lossMask: FloatArray,
): void {
  for (const [name, values] of Object.entries(arrays)) {
    if (values === undefined) continue;
    expectLength(name, values.length, lossMask.length);
    const remedy = tokenRemedies[name] ?? 'Only finite numbers can be trained on.';
    refuseWhere(name, values, (value, t) => lossMask[t] !== 0 && isNotFinite(value), remedy);
    if (name !== 'tokenWeights') continue;
    const isNegative = (value: number, t: number): boolean => lossMask[t] !== 0 && value < 0;
    refuseWhere(name, values, isNegative, 'Weights are at least 0.');
  }
}

const LOGPROB_REMEDY =
  'A token that was sampled has a finite log-prob: score it again, or set its lossMask to 0.';

const tokenRemedies: Readonly<Record<string, string>> = {
  logprobs: LOGPROB_REMEDY,
  oldLogprobs: LOGPROB_REMEDY,
  refLogprobs: LOGPROB_REMEDY,
  rolloutLogprobs:
    'Where the engine gave none, pass oldLogprobs in its place, or set its lossMask to 0.',
};

function checkMask(name: string, mask: FloatArray): void {
  refuseWhere(name, mask, (value) => value !== 0 && value !== 1, 'A mask holds 0 and 1.');
}

function isNotFinite(value: number): boolean {
  return !Number.isFinite(value);
}

function refuseWhere(
  name: string,
  values: Numbers,
  isRefused: (value: number, index: number) => boolean,
  remedy: string,
): void {
  const index = firstWhere(values, isRefused);
  if (index < 0) return;
  throw new DataError(`${name}[${index}] is ${values[index]}. ${remedy}`);
}

function firstWhere(values: Numbers, holds: (value: number, index: number) => boolean): number {
  for (let i = 0; i < values.length; i++) if (holds(values[i] as number, i)) return i;
  return -1;
}

function checkOffsets(name: string, offsets: Int32Array, N: number): void {
  if (offsets[0] !== 0 || offsets.at(-1) !== N) {
    throw new ShapeError(
      `${name} must run from 0 to ${N}, it runs from ${offsets[0]} to ${offsets.at(-1)}.`,
    );
  }
  const back = offsets.findIndex((offset, s) => s > 0 && offset < (offsets[s - 1] as number));
  if (back > 0) {
    throw new ShapeError(
      `${name} must not decrease, but after ${offsets[back - 1]} comes ${offsets[back]}. ` +
        'Give the first index of each, in order.',
    );
  }
}
