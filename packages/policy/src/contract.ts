/** The contract of policies, as functions that throw, for the tests of any policy. */
import { SaccadeError } from '@saccade/core';
import type { LossFunction, ModelImage, PackedBatch, PackedSegment } from './batch.ts';
import type { Policy, SampleRequest, SampleResult } from './policy.ts';

/** A policy broke its contract; the message names the value and what was expected. */
export class PolicyContractError extends SaccadeError {
  constructor(message: string) {
    super('contract', message);
  }
}

/** A prompt to continue: tokens and the images of its placeholders. */
export interface ContractPrompt {
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
}

/** How `contractRequest` samples. */
export interface ContractOptions {
  /** Tokens to sample. Default 12. */
  readonly maxTokens?: number;
  /** Default 1. */
  readonly temperature?: number;
}

function fail(message: string): never {
  throw new PolicyContractError(message);
}

/** Makes a request that samples exactly `maxTokens` tokens. */
export function contractRequest(
  prompt: ContractPrompt,
  conversation: string,
  seed: number,
  options: ContractOptions & { sharedPrefix?: string } = {},
): SampleRequest {
  return {
    ...prompt,
    maxTokens: options.maxTokens ?? 12,
    stop: [],
    temperature: options.temperature ?? 1,
    seed: [seed, 7],
    conversation,
    ignoreEndOfTurn: true,
    ...(options.sharedPrefix === undefined
      ? {}
      : { sharedPrefix: { key: options.sharedPrefix, length: prompt.tokens.length } }),
  };
}

/** Makes the batch that scores sampled continuations; with `isShared` the prompt is in it once. */
export function scoringBatch(
  prompt: ContractPrompt,
  results: readonly SampleResult[],
  isShared: boolean,
): PackedBatch {
  const segments: PackedSegment[] = [];
  const rows: number[] = [];
  const targets: number[] = [];
  let packed = 0;
  const push = (segment: PackedSegment): number => {
    const start = packed;
    segments.push(segment);
    packed += segment.tokens.length;
    return start;
  };
  let promptStart = isShared ? push({ ...prompt, parent: -1 }) : 0;
  for (const { tokens } of results) {
    if (!isShared) promptStart = push({ ...prompt, parent: -1 });
    const start = push({ tokens, parent: isShared ? 0 : segments.length - 1, images: [] });
    tokens.forEach((token, i) => {
      rows.push(i === 0 ? promptStart + prompt.tokens.length - 1 : start + i - 1);
      targets.push(token);
    });
  }
  return { segments, rows: Int32Array.from(rows), targets: Int32Array.from(targets) };
}

function concatenated(results: readonly SampleResult[]): number[] {
  return results.flatMap(({ logprobs }) => [...logprobs]);
}

function expectClose(what: string, got: ArrayLike<number>, want: ArrayLike<number>, gate: number) {
  if (got.length !== want.length) fail(`${what}: ${got.length} values, expected ${want.length}.`);
  for (let i = 0; i < got.length; i++) {
    const difference = Math.abs((got[i] as number) - (want[i] as number));
    if (!(difference <= gate)) {
      fail(`${what}: value ${i} is ${got[i]}, expected ${want[i]} within ${gate}.`);
    }
  }
}

/**
 * Checks that the log-probs recorded in sampling equal those computed for training, within `gate`
 * nats.
 *
 * @throws PolicyContractError  naming the token
 */
export async function checkSampledEqualsScored(
  policy: Policy,
  prompt: ContractPrompt,
  gate = 1e-5,
): Promise<void> {
  const request = (i: number) => contractRequest(prompt, `scored-${i}`, i, { sharedPrefix: 'p' });
  const results = await Promise.all([0, 1, 2].map((i) => policy.sample(request(i))));
  for (const isShared of [true, false]) {
    const { logprobs } = await policy.score(scoringBatch(prompt, results, isShared));
    expectClose('log-prob of a sampled token', logprobs, concatenated(results), gate);
  }
  for (const i of [0, 1, 2]) policy.release(`scored-${i}`);
  policy.release('p');
}

/**
 * Checks that a seed gives the same tokens and log-probs, bit for bit, alone and among other
 * requests.
 */
export async function checkSamplingIsBatchInvariant(
  policy: Policy,
  prompts: readonly ContractPrompt[],
): Promise<void> {
  const alone: SampleResult[] = [];
  for (const [i, prompt] of prompts.entries()) {
    alone.push(await policy.sample(contractRequest(prompt, `alone-${i}`, i)));
    policy.release(`alone-${i}`);
  }
  const together = await Promise.all(
    prompts.map((prompt, i) => policy.sample(contractRequest(prompt, `together-${i}`, i))),
  );
  for (const [i, result] of together.entries()) {
    policy.release(`together-${i}`);
    expectClose(`token of request ${i}`, result.tokens, (alone[i] as SampleResult).tokens, 0);
    expectClose(`log-prob of ${i}`, result.logprobs, (alone[i] as SampleResult).logprobs, 0);
  }
}

/**
 * Checks that a sequence's scores have the same bits alone and in a batch, prefix shared or
 * repeated.
 */
export async function checkScoresAreBatchInvariant(
  policy: Policy,
  prompt: ContractPrompt,
): Promise<void> {
  const results = await Promise.all(
    [0, 1, 2, 3].map((i) => policy.sample(contractRequest(prompt, `bits-${i}`, 50 + i))),
  );
  for (const i of [0, 1, 2, 3]) policy.release(`bits-${i}`);
  const alone: number[] = [];
  for (const result of results) {
    alone.push(...(await policy.score(scoringBatch(prompt, [result], false))).logprobs);
  }
  for (const isShared of [false, true]) {
    const { logprobs } = await policy.score(scoringBatch(prompt, results, isShared));
    expectClose(`log-prob, prefix ${isShared ? 'shared' : 'repeated'}`, logprobs, alone, 0);
  }
}

/** Checks that a conversation continued from its cache gives the same bits as a new one. */
export async function checkConversationReuse(
  policy: Policy,
  prompt: ContractPrompt,
): Promise<void> {
  const first = await policy.sample(contractRequest(prompt, 'reuse', 1));
  const observation = prompt.tokens.subarray(0, 3).map((token) => (token === 0 ? 1 : token));
  const plain = observation.every((token) => prompt.images.length === 0 || token >= 0);
  if (!plain) fail('The prompt must begin with text.');
  const tokens = Int32Array.from([...prompt.tokens, ...first.tokens, ...observation]);
  const next = { tokens, images: prompt.images };
  const reused = await policy.sample(contractRequest(next, 'reuse', 2));
  const fresh = await policy.sample(contractRequest(next, 'fresh', 2));
  policy.release('reuse');
  policy.release('fresh');
  expectClose('token after reuse', reused.tokens, fresh.tokens, 0);
  expectClose('log-prob after reuse', reused.logprobs, fresh.logprobs, 0);
}

/** L = Σ logprob²: a loss whose gradient differs from token to token. */
export const squares: LossFunction = ({ logprobs }) => ({
  loss: logprobs.reduce((sum, lp) => sum + lp * lp, 0),
  gradLogprobs: logprobs.map((lp) => 2 * lp),
});

/**
 * The sums of squared probabilities are those of the log-probs of the whole vocabulary, and asking for
 * them changes nothing else.
 *
 * @param vocabulary tokens that the model has logits of
 */
export async function checkSumSquaredProbs(
  policy: Policy,
  prompt: ContractPrompt,
  vocabulary: number,
): Promise<void> {
  const segments = [{ ...prompt, parent: -1 }];
  const length = prompt.tokens.length;
  // Every token of the vocabulary behind two contexts, and a row that is left out.
  const rows = Int32Array.from({ length: 2 * vocabulary + 1 }, (_, i) =>
    i < vocabulary ? length - 1 : 0,
  );
  const targets = rows.map((_, i) => (i < 2 * vocabulary ? i % vocabulary : -1));
  const batch = { segments, rows, targets };
  // The sharper one puts nearly all of the probability on few tokens.
  for (const temperature of [1, 0.05]) {
    const plain = await policy.score(batch, temperature);
    if (plain.sumSquaredProbs !== undefined) fail('Sums of squares were not asked for.');
    const scores = await policy.score(batch, temperature, { sumSquaredProbs: true });
    const { sumSquaredProbs = [] } = scores;
    expectClose('log-prob beside sums of squares', scores.logprobs, plain.logprobs, 0);
    const want = Array.from(rows, (row, i) => {
      if (i === 2 * vocabulary) return 0;
      const first = row === 0 ? vocabulary : 0;
      const all = scores.logprobs.subarray(first, first + vocabulary);
      return all.reduce((sum, logprob) => sum + Math.exp(2 * logprob), 0);
    });
    // Relative: a sum of squares may be as small as 1 / vocabulary.
    const ratios = want.map((sum, i) =>
      sum === 0 ? (sumSquaredProbs[i] ?? 1) : (sumSquaredProbs[i] as number) / sum - 1,
    );
    expectClose(
      'sum of squared probabilities over the oracle, less 1',
      ratios,
      want.map(() => 0),
      1e-4,
    );
  }
}
