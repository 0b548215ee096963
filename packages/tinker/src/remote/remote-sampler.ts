/** Samples with a learner's own weights, by the wire's `asample`. */
import { randomUUID } from 'node:crypto';
import { z } from '@saccade/core/settings';
import {
  fullTruncation,
  isTruncated,
  type Processor,
  type SampleRequest,
  type SampleResult,
} from '@saccade/policy';
import type { TinkerClient } from '../client/tinker-client.ts';
import type { TinkerModel } from '../client/tinker-model.ts';
import { blobOf } from '../wire/image-blob.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { chunksOf } from './path-data.ts';

const answer = z.looseObject({
  sequences: z
    .array(
      z.looseObject({
        tokens: z.array(z.number().int()),
        logprobs: z.array(z.number()).nullish(),
        stop_reason: z.string(),
        finish: z.enum(['endOfTurn', 'stop', 'length']).optional(),
        policy_version: z.number().optional(),
        kept_mass: z.array(z.number()).optional(),
      }),
    )
    .min(1),
});

/** The model that is sampled from, as it is now. */
export interface SampledModel {
  readonly client: TinkerClient;
  readonly model: TinkerModel;
  readonly version: number;
}

export class RemoteSampler {
  readonly #processor: Processor;
  /** The session of a version, on servers whose samplers are pinned to saved weights. */
  #session: { readonly key: string; readonly id: Promise<string> } | undefined;
  #requestCount = 0;

  constructor(processor: Processor) {
    this.#processor = processor;
  }

  /** @throws TinkerError if the server cannot sample so */
  async sample(sampled: SampledModel, request: SampleRequest): Promise<SampleResult> {
    const { client } = sampled;
    const hasSampling = client.capabilities.extensions.includes('sampling');
    if (!client.isOurs) this.#expectPlain(request);
    const body = {
      sampling_session_id: await this.#sessionOf(sampled, hasSampling),
      // Servers of others tell requests of a session apart by it, and refuse those without.
      ...(!client.isOurs && { seq_id: ++this.#requestCount }),
      num_samples: 1,
      prompt: { chunks: this.#chunks(request, hasSampling, client.isOurs) },
      sampling_params: paramsOf(request),
      ...(hasSampling && { saccade: extrasOf(request) }),
    };
    const call = async (): Promise<unknown> =>
      await client.futures.call('/asample', body, request.signal);
    const result = await uploadingBlobs(client, request, call);
    const [sequence] = answer.parse(result).sequences;
    if (sequence === undefined || sequence.logprobs == null) {
      throw new TinkerError('server', 'The learner gave no log-probs of its sample.', {
        code: 'unfit',
      });
    }
    const tokens = Int32Array.from(sequence.tokens);
    const last = tokens[tokens.length - 1];
    const plain = sequence.stop_reason === 'length' ? 'length' : 'stop';
    const ended = last === this.#processor.endOfTurn ? 'endOfTurn' : plain;
    return {
      tokens,
      logprobs: Float32Array.from(sequence.logprobs),
      text: this.#processor.decode(withoutEnd(tokens, this.#processor.endOfTurn)),
      finish: sequence.finish ?? ended,
      policyVersion: sequence.policy_version ?? sampled.version,
      ...(sequence.kept_mass && { keptMass: Float32Array.from(sequence.kept_mass) }),
    };
  }

  /** Ends the session that is there, as after a step. */
  forget(): void {
    this.#session = undefined;
  }

  #chunks(
    { tokens, images }: SampleRequest,
    hasSampling: boolean,
    isOurs: boolean,
  ): readonly object[] {
    if (hasSampling) return [{ type: 'encoded_text', tokens: [...tokens] }];
    return chunksOf(tokens, images, this.#processor.imageToken, isOurs);
  }

  async #sessionOf(sampled: SampledModel, isLive: boolean): Promise<string> {
    const { client, model, version } = sampled;
    // Ours sample with the weights as they are; elsewhere a session is of saved ones.
    const key = isLive ? model.id : `${model.id} ${version}`;
    if (this.#session?.key !== key) {
      const id = isLive
        ? client.createSampler({ model_id: model.id })
        : model
            .saveForSampler(`v${version}-${randomUUID().slice(0, 8)}`)
            .then((path) => client.createSampler({ model_path: path }));
      this.#session = { key, id };
      id.catch(() => this.forget());
    }
    return await this.#session.id;
  }

  #expectPlain(request: SampleRequest): void {
    const { minP } = fullTruncation(request);
    const strange = [
      request.temperature !== 1 && request.temperature !== 0 && 'a temperature',
      isTruncated(request) && (minP > 0 ? 'minP' : 'topK or topP'),
      request.ignoreEndOfTurn && 'ignoreEndOfTurn',
    ].find((what) => typeof what === 'string');
    if (strange === undefined) return;
    throw new TinkerError(
      'user',
      `This server says nothing of what its log-probs mean with ${strange}. Sample at temperature 1 ` +
        'without filters, or by an engine: engine=http.',
      { code: 'unfit', field: 'rl.temperature' },
    );
  }
}

function paramsOf(request: SampleRequest): object {
  const { topK, topP } = fullTruncation(request);
  const { maxTokens, stop, temperature, seed } = request;
  return {
    max_tokens: maxTokens,
    stop,
    temperature,
    top_p: topP,
    top_k: topK === 0 ? -1 : topK,
    seed: (seed[0] ^ (seed[1] * 0x9e3779b1)) & 0x7fffffff,
  };
}

function extrasOf(request: SampleRequest): object {
  const { seed, conversation, sharedPrefix, minP, ignoreEndOfTurn, images } = request;
  return {
    seed,
    conversation,
    ...(sharedPrefix && { shared_prefix: sharedPrefix }),
    ...(minP !== undefined && { min_p: minP }),
    ...(ignoreEndOfTurn && { ignore_end_of_turn: true }),
    images: images.map((image) => ({
      sha256: blobOf(image).sha256,
      expected_tokens: image.tokenCount,
    })),
  };
}

/** Sends images that the server lacks, then asks again. */
async function uploadingBlobs(
  client: TinkerClient,
  { images }: SampleRequest,
  call: () => Promise<unknown>,
): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const isMissing = error instanceof TinkerError && error.fault === 'missing-blobs';
      if (!isMissing || tries >= 3) throw error;
      const wanted = error.fields.missing as readonly string[];
      for (const image of images) {
        const blob = blobOf(image);
        if (wanted.includes(blob.sha256)) await client.futures.upload(blob);
      }
    }
  }
}

function withoutEnd(tokens: Int32Array, endOfTurn: number): Int32Array {
  return tokens[tokens.length - 1] === endOfTurn ? tokens.subarray(0, -1) : tokens;
}
