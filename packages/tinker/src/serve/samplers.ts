/** Sampling for clients of the wire: sessions of weights, prompts in chunks, samples in order. */
import { randomUUID } from 'node:crypto';
import { isTruncated, type SampleResult, type TrainedPolicy } from '@saccade/policy';
import type { z } from 'zod';
import type { sampleBody } from '../wire/schemas.ts';
import { TinkerError, wrongField } from '../wire/tinker-error.ts';
import { inputOf, type ModelBounds } from './batches.ts';
import type { BlobStore } from './blob-store.ts';

/** What a session samples from: weights that a model had when it was saved, or a policy of its own. */
export interface SampledWeights {
  readonly policy: TrainedPolicy;
  readonly bounds: ModelBounds;
  /** The version that the session promises; absent for weights that do not move. */
  readonly version?: number;
}

/** Caches of conversations and prefixes that are kept. */
const MOST_CACHES = 512;

export class Samplers {
  readonly #sessions = new Map<string, SampledWeights>();
  readonly #blobs: BlobStore;
  /** Keys with a cache, the one used longest ago first. */
  readonly #caches = new Map<string, TrainedPolicy>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  add(weights: SampledWeights): string {
    const id = randomUUID();
    this.#sessions.set(id, weights);
    return id;
  }

  /** Ends the sessions of a policy. */
  forget(policy: TrainedPolicy): void {
    for (const [id, session] of this.#sessions) {
      if (session.policy === policy) this.#sessions.delete(id);
    }
    for (const [key, owner] of this.#caches) if (owner === policy) this.#caches.delete(key);
  }

  /** @throws TinkerError if the session is not known */
  session(id: string): SampledWeights {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    throw new TinkerError('user', `There is no sampling session ${id}. Create one.`, {
      status: 404,
      field: 'sampling_session_id',
    });
  }

  /** Samples `num_samples` continuations. */
  async sample(
    { policy, bounds, version }: SampledWeights,
    body: z.output<typeof sampleBody>,
  ): Promise<object> {
    if (version !== undefined && policy.version !== version) {
      throw new TinkerError(
        'user',
        `The session samples from version ${version}, and the weights have ${policy.version} now. ` +
          'Save them for a sampler again, and sample from that.',
        { code: 'stale-version', status: 409, fields: { version: policy.version } },
      );
    }
    const { prompt, sampling_params: how, num_samples: count, saccade = null } = body;
    const input = await inputOf(prompt.chunks, this.#blobs, bounds, 'prompt', saccade?.images);
    const conversation = saccade?.conversation ?? randomUUID();
    const shared = saccade?.shared_prefix ?? {
      key: `${conversation}/prompt`,
      length: input.tokens.length,
    };
    const [first, second] = saccade?.seed ?? [how.seed ?? randomSeed(), 0];
    const truncation = {
      topK: Math.max(0, how.top_k),
      topP: how.top_p,
      minP: saccade?.min_p ?? 0,
    };
    const names = Array.from({ length: count }, (_, i) =>
      i === 0 ? conversation : `${conversation}/${i}`,
    );
    const sharing = count > 1 || saccade?.shared_prefix != null;
    const results = await Promise.all(
      names.map((name, i) =>
        policy.sample({
          ...input,
          ...truncation,
          conversation: name,
          maxTokens: how.max_tokens ?? 1024,
          temperature: how.temperature,
          stop: stopsOf(how.stop, policy),
          seed: [first, second + i] as const,
          ...(sharing && { sharedPrefix: shared }),
          ...(saccade?.ignore_end_of_turn && { ignoreEndOfTurn: true }),
        }),
      ),
    );
    if (saccade?.conversation === undefined) for (const name of names) policy.release(name);
    else for (const name of names) this.#keep(name, policy);
    if (saccade?.shared_prefix != null) this.#keep(saccade.shared_prefix.key, policy);
    else if (sharing) policy.release(shared.key);
    return {
      type: 'sample',
      sequences: results.map((result) => sequenceOf(result, isTruncated(truncation))),
      ...(body.prompt_logprobs && { prompt_logprobs: await promptLogprobs(policy, input) }),
    };
  }

  release(key: string): void {
    const policy = this.#caches.get(key);
    this.#caches.delete(key);
    policy?.release(key);
  }

  #keep(key: string, policy: TrainedPolicy): void {
    this.#caches.delete(key);
    this.#caches.set(key, policy);
    const [oldest] = this.#caches.keys();
    if (this.#caches.size > MOST_CACHES && oldest !== undefined) this.release(oldest);
  }
}

function sequenceOf(result: SampleResult, hasKeptMass: boolean): object {
  const { tokens, logprobs, finish, policyVersion, keptMass, text } = result;
  return {
    tokens: [...tokens],
    logprobs: [...logprobs],
    stop_reason: finish === 'length' ? 'length' : 'stop',
    finish,
    policy_version: policyVersion,
    text,
    ...(hasKeptMass && keptMass && { kept_mass: [...keptMass] }),
  };
}

/** Log-probs of a prompt's tokens; of the first, nothing is known. */
async function promptLogprobs(
  policy: TrainedPolicy,
  { tokens, images }: Pick<Parameters<TrainedPolicy['sample']>[0], 'tokens' | 'images'>,
): Promise<readonly (number | null)[]> {
  if (tokens.length < 2) return [null];
  const rows = Int32Array.from({ length: tokens.length - 1 }, (_, i) => i);
  const targets = tokens.slice(1);
  const segments = [{ tokens, images, parent: -1 }];
  const { logprobs } = await policy.score({ segments, rows, targets });
  return [null, ...logprobs];
}

/** @throws TinkerError for a token that no sample stops at by itself */
function stopsOf(
  stop: string | readonly (string | number)[] | null | undefined,
  { processor }: TrainedPolicy,
): readonly string[] {
  if (stop == null) return [];
  const all = typeof stop === 'string' ? [stop] : stop;
  return all.flatMap((one) => {
    if (typeof one === 'string') return one === '' ? [] : [one];
    // A turn's end always stops.
    if (one === processor.endOfTurn) return [];
    throw wrongField(
      'sampling_params.stop',
      `token ${one} is not the end of a turn (${processor.endOfTurn}). Give a string.`,
    );
  });
}

function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}
