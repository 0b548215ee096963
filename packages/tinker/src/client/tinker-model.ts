/** The calls of one model on a server of the wire, with their answers checked. */
import { DataError, expectLength } from '@saccade/core';
import { z } from '@saccade/core/settings';
import type { Published, PublishTarget } from '@saccade/policy';
import type { ImageBlob } from '../wire/image-blob.ts';
import type { NamedLoss } from '../wire/schemas.ts';
import { floats, floatTensor, integers, isWireTensor, type WireTensor } from '../wire/tensors.ts';
import { type Futures, ModelCalls, type OnMissing } from './model-calls.ts';

/** Adam's settings as the wire names them. */
export interface AdamParams {
  readonly learning_rate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weight_decay: number;
  readonly grad_clip_norm: number;
}

/** Steps with Adam's defaults, without decay or clipping. */
export const plainAdam: AdamParams = {
  learning_rate: 0,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weight_decay: 0,
  grad_clip_norm: 0,
};

/** A datum to send: its input in chunks, and what its loss reads, one value for each position. */
export interface DatumInput {
  readonly chunks: readonly object[];
  readonly targets: Int32Array;
  readonly weights?: Float32Array;
  readonly logprobs?: Float32Array;
  readonly advantages?: Float32Array;
}

/** A packed forest to send. */
export interface ForestRequest {
  readonly forest: {
    readonly segments: readonly object[];
    readonly tokens: Int32Array;
    readonly rows: Int32Array;
    readonly targets: Int32Array;
  };
  readonly blobs: ReadonlyMap<string, ImageBlob>;
  readonly temperature: number;
  readonly weights?: 'policy' | 'reference';
  readonly sumSquaredProbs?: boolean;
}

/** Scores of a forest, and the future that a backward refers to. */
export interface ForestScores {
  readonly logprobs: Float32Array;
  readonly entropy: Float32Array;
  readonly values?: Float32Array;
  readonly sumSquaredProbs?: Float32Array;
  readonly version: number;
  readonly requestId: string;
}

/** The result of an optimizer step; what a server does not tell is absent. */
export interface StepAnswer {
  readonly gradNorm?: number;
  readonly version?: number;
  readonly isSkipped: boolean;
}

/** Where a server saved weights. */
export interface SavedWeights {
  readonly path: string;
  readonly sha256?: string;
  readonly version?: number;
}

const outputs = z.looseObject({
  loss_fn_outputs: z.array(z.looseObject({ logprobs: floatTensor.optional() })),
  metrics: z.record(z.string(), z.unknown()).default({}),
});
const scores = z.looseObject({
  logprobs: floatTensor,
  entropy: floatTensor,
  values: floatTensor.optional(),
  sum_squared_probs: floatTensor.optional(),
  version: z.number().default(0),
});
const step = z.looseObject({
  metrics: z.record(z.string(), z.unknown()).nullish(),
  grad_norm: z.number().nullish(),
  version: z.number().optional(),
  is_skipped: z.boolean().optional(),
});
const saved = z.looseObject({
  path: z.string(),
  sha256: z.string().optional(),
  version: z.number().optional(),
});
const loadedWeights = z.looseObject({
  version: z.number().optional(),
  sha256: z.string().optional(),
});
const published = z.looseObject({
  version: z.number(),
  checksum: z.string(),
  served: z.array(z.looseObject({ url: z.string(), version: z.coerce.string() })).default([]),
});

/** Images that are sent at a time. */
const UPLOADS_AT_ONCE = 8;

/** A model on a server; `TinkerClient.createModel` makes one. Its calls run in their order. */
export class TinkerModel {
  readonly id: string;
  readonly #futures: Futures;
  readonly #calls: ModelCalls;

  constructor(id: string, futures: Futures) {
    this.id = id;
    this.#futures = futures;
    this.#calls = new ModelCalls(id, futures);
  }

  /** Log-probs [T] of the targets of each datum. */
  async forward(data: readonly DatumInput[]): Promise<readonly Float32Array[]> {
    const input = { data: data.map(datumOf), loss_fn: 'cross_entropy' };
    const { result } = await this.#calls.call('/forward', { forward_input: input });
    return logprobsOf(outputs.parse(result), data);
  }

  /** Accumulates the gradient of a loss that the server computes. */
  async forwardBackward(
    data: readonly DatumInput[],
    loss: NamedLoss,
    config?: Readonly<Record<string, number>>,
  ): Promise<{
    readonly logprobs: readonly Float32Array[];
    readonly metrics: Readonly<Record<string, number>>;
  }> {
    const input = {
      data: data.map(datumOf),
      loss_fn: loss,
      ...(config !== undefined && { loss_fn_config: config }),
    };
    const { result } = await this.#calls.call('/forward_backward', {
      forward_backward_input: input,
    });
    const answer = outputs.parse(result);
    return { logprobs: logprobsOf(answer, data), metrics: numbersIn(answer.metrics) };
  }

  /** Scores a forest. Images that the server lacks are uploaded once. */
  async forwardForest(request: ForestRequest): Promise<ForestScores> {
    const { forest, blobs, temperature, weights = 'policy', sumSquaredProbs = false } = request;
    const input = {
      forest: {
        segments: forest.segments,
        tokens: integers(forest.tokens),
        rows: integers(forest.rows),
        targets: integers(forest.targets),
      },
    };
    const body = {
      forward_input: input,
      temperature,
      weights,
      ...(sumSquaredProbs && { sum_squared_probs: true }),
    };
    const { result, requestId } = await this.#calls.call('/forward', body, this.#uploading(blobs));
    const { logprobs, entropy, values, sum_squared_probs: sums, version } = scores.parse(result);
    for (const [name, array] of Object.entries({ logprobs, entropy })) {
      expectLength(name, array.length, forest.targets.length);
    }
    return {
      logprobs,
      entropy,
      version,
      requestId,
      ...(values && { values }),
      ...(sums && { sumSquaredProbs: sums }),
    };
  }

  /** Accumulates Σ g·∂/∂θ of a forest that was scored. [N] each. */
  async backward(
    requestId: string,
    gradients: {
      readonly gradLogprobs: Float32Array;
      readonly gradEntropy?: Float32Array;
      readonly gradValues?: Float32Array;
    },
  ): Promise<void> {
    const { gradLogprobs, gradEntropy, gradValues } = gradients;
    await this.#calls.call('/backward', {
      data_ref: requestId,
      grad_logprobs: floats(gradLogprobs),
      ...(gradEntropy && { grad_entropy: floats(gradEntropy) }),
      ...(gradValues && { grad_values: floats(gradValues) }),
    });
  }

  /**
   * Steps by the accumulated gradient.
   *
   * @param expectedVersion the step is refused if the weights have another, on servers with versions
   */
  async optimStep(
    adam: AdamParams,
    options: { readonly expectedVersion?: number; readonly optimizer?: object } = {},
  ): Promise<StepAnswer> {
    const { expectedVersion, optimizer } = options;
    const { result } = await this.#calls.call('/optim_step', {
      adam_params: adam,
      ...(expectedVersion !== undefined && { expected_version: expectedVersion }),
      ...(optimizer !== undefined && { optimizer }),
    });
    const { metrics, grad_norm, version, is_skipped } = step.parse(result ?? {});
    const norm = grad_norm ?? gradNormIn(numbersIn(metrics ?? {}));
    return {
      isSkipped: is_skipped ?? (norm !== undefined && !Number.isFinite(norm)),
      ...(norm !== undefined && { gradNorm: norm }),
      ...(version !== undefined && { version }),
    };
  }

  async saveWeights(path: string, options: { optimizer?: boolean; merged?: boolean } = {}) {
    const { result } = await this.#calls.call('/save_weights', { path, ...options });
    return saved.parse(result) as SavedWeights;
  }

  /** Makes the weights ready to be sampled from; gives the path of a sampler. */
  async saveForSampler(name: string): Promise<string> {
    const { result } = await this.#calls.call('/save_weights_for_sampler', { path: name });
    return saved.parse(result).path;
  }

  async loadWeights(path: string, optimizer: boolean): Promise<z.output<typeof loadedWeights>> {
    const { result } = await this.#calls.call('/load_weights', { path, optimizer });
    return loadedWeights.parse(result ?? {});
  }

  async resetOptimizer(): Promise<void> {
    await this.#calls.call('/reset_optimizer', {});
  }

  async publish(target: PublishTarget, version: number): Promise<Published> {
    const { result } = await this.#calls.call('/publish', { target, version });
    return published.parse(result);
  }

  async checksum(): Promise<{ readonly version: number; readonly checksum: string }> {
    const { result } = await this.#calls.call('/checksum', {});
    return z.looseObject({ version: z.number(), checksum: z.string() }).parse(result);
  }

  /** The accumulated gradients by name, of servers that were started to show them. */
  async gradients(): Promise<ReadonlyMap<string, WireTensor>> {
    const body = { model_id: this.id };
    const answer = await this.#futures.call('/gradients', body);
    const { gradients } = z
      .looseObject({ gradients: z.record(z.string(), z.unknown()) })
      .parse(answer);
    return new Map(
      Object.entries(gradients).map(([name, tensor]) => {
        if (isWireTensor(tensor)) return [name, tensor];
        return [name, floats(floatTensor.parse(tensor))];
      }),
    );
  }

  async info(): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#futures.call('/get_info', { model_id: this.id });
    return z.looseObject({}).parse(answer ?? {});
  }

  async unload(): Promise<void> {
    await this.#futures.call('/unload_model', { model_id: this.id });
  }

  #uploading(blobs: ReadonlyMap<string, ImageBlob>): OnMissing {
    return async (hashes) => {
      const wanted = hashes.map((hash) => {
        const blob = blobs.get(hash);
        if (blob !== undefined) return blob;
        throw new DataError(
          `The learner asks for an image ${hash}, which the batch does not have.`,
        );
      });
      // One after the other they would wait for the way there and back each time.
      const uploading = Array.from({ length: UPLOADS_AT_ONCE }, async () => {
        for (let blob = wanted.pop(); blob !== undefined; blob = wanted.pop()) {
          await this.#futures.upload(blob);
        }
      });
      await Promise.all(uploading);
    };
  }
}

function datumOf({ chunks, targets, weights, logprobs, advantages }: DatumInput): object {
  return {
    model_input: { chunks },
    loss_fn_inputs: {
      target_tokens: integers(targets),
      ...(weights && { weights: floats(weights) }),
      ...(logprobs && { logprobs: floats(logprobs) }),
      ...(advantages && { advantages: floats(advantages) }),
    },
  };
}

/** @throws DataError if a server dropped positions, as one that ignores images does */
function logprobsOf(
  { loss_fn_outputs: all }: z.output<typeof outputs>,
  data: readonly DatumInput[],
): readonly Float32Array[] {
  if (all.length !== data.length) {
    throw new DataError(`The learner answered ${all.length} outputs to ${data.length} data.`);
  }
  return all.map(({ logprobs = new Float32Array() }, at) => {
    const wanted = data[at]?.targets.length ?? 0;
    if (logprobs.length === wanted) return logprobs;
    throw new DataError(
      `The learner answered ${logprobs.length} log-probs to ${wanted} targets of datum ${at}.`,
    );
  });
}

function numbersIn(metrics: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  const entries = Object.entries(metrics).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return Object.fromEntries(entries);
}

/** The gradient's norm among metrics, whose names end with how they are reduced. */
function gradNormIn(metrics: Readonly<Record<string, number>>): number | undefined {
  const found = Object.entries(metrics).find(([name]) =>
    /(^|[./_])grad(ient)?_norm(:|$)/.test(name),
  );
  return found?.[1];
}
