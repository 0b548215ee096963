/** One model of a learner server: what each call of the wire does with its policy. */
import { rm } from 'node:fs/promises';
import { convert, StateError, UnsupportedError } from '@saccade/core';
import { adamw, createOptimizer, type Optimizer } from '@saccade/optim';
import type { FixedPolicy, PackedBatch, Scores } from '@saccade/policy';
import type { Tensor } from '@saccade/tensor';
import type { z } from 'zod';
import {
  adamParams,
  type backwardBody,
  type DataInput,
  type ForestInput,
  type loadWeightsBody,
  type optimStepBody,
  type publishBody,
  type Scoring,
  type saveWeightsBody,
} from '../wire/schemas.ts';
import { floats, type WireTensor } from '../wire/tensors.ts';
import { TinkerError, wrongField } from '../wire/tinker-error.ts';
import { batchOfData, batchOfForest, type DataBatch, type ModelBounds } from './batches.ts';
import type { BlobStore } from './blob-store.ts';
import { checksumOf } from './checksum.ts';
import type { ServedLearner } from './learner-models.ts';
import { namedLoss } from './named-losses.ts';
import { publishTo } from './publish-to.ts';
import { hashOfDirectory, type SavedPaths } from './saved-paths.ts';

/** What a model shares with its server. */
export interface ModelHost {
  readonly blobs: BlobStore;
  readonly bounds: Pick<ModelBounds, 'maxTokens'>;
  readonly saved: SavedPaths;
  /** Whether clients may read gradients. */
  readonly exposesGradients: boolean;
}

/** Forwards whose batches are kept for a backward. */
const MOST_FORWARDS = 256;

/** Where a model's calls stand, for `get_info`. */
export interface LastStep {
  readonly version: number;
  readonly grad_norm: number | null;
  readonly is_skipped: boolean;
}

export class ServedModel {
  readonly id: string;
  readonly name: string;
  readonly learner: ServedLearner;
  readonly #host: ModelHost;
  readonly #bounds: ModelBounds;
  readonly #forwards = new Map<string, { batch: PackedBatch; temperature: number }>();
  /** Batches of requests that wait in the line, with their images. */
  readonly #prepared = new WeakMap<ForestInput, PackedBatch>();
  readonly #preparedData = new WeakMap<DataInput, DataBatch>();
  #reference: Promise<FixedPolicy> | undefined;
  #lastStep: LastStep | undefined;
  #samplerCount = 0;
  /** The directory that engines were given last. */
  #published: string | undefined;

  constructor(id: string, name: string, learner: ServedLearner, host: ModelHost) {
    this.id = id;
    this.name = name;
    this.learner = learner;
    this.#host = host;
    const { processor, vocabSize } = learner.policy;
    this.#bounds = { processor, vocabSize, ...host.bounds };
  }

  get version(): number {
    return this.learner.policy.version;
  }

  get bounds(): ModelBounds {
    return this.#bounds;
  }

  get info(): object {
    const { policy } = this.learner;
    return {
      model_id: this.id,
      model_name: this.name,
      is_lora: policy.hasAdapter,
      version: policy.version,
      ...(this.#lastStep && { last_step: this.#lastStep }),
      model_data: { model_name: this.name, tokenizer_id: this.name },
    };
  }

  /** Checks a forest before it has a place in the line; holds its images from then on. */
  async prepareForest(input: ForestInput): Promise<void> {
    const batch = await batchOfForest(input.forest, this.#host.blobs, this.#bounds);
    this.#prepared.set(input, batch);
  }

  /** Checks data before they have a place in the line. */
  async prepareData(input: DataInput): Promise<void> {
    if (input.loss_fn !== 'cross_entropy') namedLoss(input);
    const batch = await batchOfData(input.data, this.#host.blobs, this.#bounds);
    this.#preparedData.set(input, batch);
  }

  async forwardForest(
    input: ForestInput,
    { temperature, weights, sum_squared_probs: sumSquaredProbs }: Scoring,
    requestId: string,
  ): Promise<object> {
    const batch = taken(this.#prepared, input);
    const scorer = weights === 'policy' ? this.learner.policy : await this.#openReference();
    const scores = await scorer.score(batch, temperature, { sumSquaredProbs });
    if (weights === 'policy') {
      this.#forwards.set(requestId, { batch, temperature });
      for (const oldest of this.#forwards.keys()) {
        if (this.#forwards.size <= MOST_FORWARDS) break;
        this.#forwards.delete(oldest);
      }
    }
    return { type: 'forest', ...tensorsOf(scores), version: this.version };
  }

  /** @throws TinkerError with status 410 if the forward was forgotten */
  async backward(body: z.output<typeof backwardBody>): Promise<object> {
    const kept = this.#forwards.get(body.data_ref);
    if (kept === undefined) {
      throw new TinkerError('user', `The forward ${body.data_ref} was forgotten. Send it again.`, {
        code: 'unknown-future',
        status: 410,
        field: 'data_ref',
      });
    }
    const { batch, temperature } = kept;
    const { grad_logprobs: gradLogprobs, grad_entropy, grad_values } = body;
    const all = { grad_logprobs: gradLogprobs, grad_entropy, grad_values };
    for (const [name, gradient] of Object.entries(all)) {
      const count = gradient?.length ?? batch.targets.length;
      if (count === batch.targets.length) continue;
      throw wrongField(name, `${count} gradients for ${batch.targets.length} targets.`);
    }
    await this.learner.policy.forwardBackward(
      batch,
      () => ({
        loss: 0,
        gradLogprobs,
        ...(grad_entropy && { gradEntropy: grad_entropy }),
        ...(grad_values && { gradValues: grad_values }),
      }),
      temperature,
    );
    this.#forwards.delete(body.data_ref);
    return { type: 'backward', version: this.version };
  }

  async forwardData(input: DataInput): Promise<object> {
    const { batch, lengths } = taken(this.#preparedData, input);
    const loss = namedLoss(withWeights(input));
    const scores = await this.learner.policy.score(batch);
    return outputsOf(scores, lengths, loss(scores).loss);
  }

  async forwardBackwardData(input: DataInput): Promise<object> {
    const loss = namedLoss(input);
    const { batch, lengths } = taken(this.#preparedData, input);
    const scores = await this.learner.policy.forwardBackward(batch, loss);
    return outputsOf(scores, lengths, scores.loss);
  }

  /** @throws TinkerError if the weights will have another version once the steps that wait are done */
  expectVersion(expected: number | null | undefined, queuedSteps: number): void {
    const version = this.version + queuedSteps;
    if (expected == null || expected === version) return;
    throw new TinkerError(
      'user',
      `The weights have version ${version}, and the step expects ${expected}.`,
      { code: 'stale-version', status: 409, fields: { version } },
    );
  }

  async optimStep(body: z.output<typeof optimStepBody>): Promise<object> {
    this.expectVersion(body.expected_version, 0);
    const { gradients } = this.learner;
    if (gradients !== undefined && Object.keys(gradients()).length === 0) {
      throw new TinkerError('user', 'There is no gradient to step by. Send a backward first.', {
        code: 'no-gradient',
      });
    }
    const { optimizer, learningRate } = optimizerOf(body);
    const { gradNorm, isSkipped } = await this.learner.policy.optimizerStep({
      optimizer,
      learningRate,
      inFlight: 'recompute',
    });
    this.#forwards.clear();
    const finite = Number.isFinite(gradNorm) ? gradNorm : null;
    this.#lastStep = { version: this.version, grad_norm: finite, is_skipped: isSkipped };
    return {
      type: 'optim_step',
      metrics: { ...(finite !== null && { 'grad_norm:mean': finite }) },
      ...this.#lastStep,
    };
  }

  async resetOptimizer(): Promise<object> {
    await this.learner.policy.resetOptimizer();
    return { type: 'reset_optimizer', version: this.version };
  }

  async saveWeights(body: z.output<typeof saveWeightsBody>): Promise<object> {
    const { path, optimizer, merged } = body;
    const target = this.#host.saved.newPath(this.id, 'weights', path ?? `v${this.version}`);
    return await this.#save(target, { optimizer, merged });
  }

  /** Names the weights as they are, to be sampled from; they stay where they are. */
  async saveForSampler(name: string | null | undefined): Promise<object> {
    const own = name ?? `sampler-${this.#samplerCount++}`;
    const target = this.#host.saved.newPath(this.id, 'sampler_weights', own);
    return await this.#save(target, { optimizer: false, merged: false });
  }

  async #save(
    target: { readonly uri: string; readonly directory: string },
    options: { readonly optimizer: boolean; readonly merged: boolean },
  ): Promise<object> {
    const { version } = this;
    const sha256 = await this.#host.saved.write(target.directory, (directory) =>
      this.learner.policy.save(directory, options),
    );
    this.#host.saved.remember(target.uri, version);
    return { type: 'save_weights', path: target.uri, sha256, version };
  }

  async loadWeights({ path, optimizer }: z.output<typeof loadWeightsBody>): Promise<object> {
    const directory = this.#host.saved.directoryOf(path);
    await this.learner.policy.load(directory, { optimizer });
    this.#forwards.clear();
    const sha256 = await hashOfDirectory(directory);
    return { type: 'load_weights', path, sha256, version: this.version };
  }

  async publish({ target, version }: z.output<typeof publishBody>): Promise<object> {
    if (version != null && version !== this.version) {
      throw new TinkerError('user', `The weights have version ${this.version}, not ${version}.`, {
        code: 'stale-version',
        status: 409,
        fields: { version: this.version },
      });
    }
    const { checksum } = await this.checksum();
    const { kind, urls, directory } = target;
    const where = {
      kind,
      urls,
      directory: directory ?? this.#host.saved.publishDirectory(this.id),
    };
    const { served, written } = await publishTo(this.learner.policy, where);
    // Whole weights of every version would fill the disk.
    if (this.#published !== undefined && this.#published !== written) {
      await rm(this.#published, { recursive: true, force: true });
    }
    this.#published = written;
    return { type: 'publish', version: this.version, checksum, served };
  }

  async checksum(): Promise<{ type: string; version: number; checksum: string }> {
    const tensors = this.learner.tensors?.();
    if (tensors === undefined) {
      throw new UnsupportedError('This policy does not show its tensors, so it has no checksum.');
    }
    return { type: 'checksum', version: this.version, checksum: await checksumOf(tensors) };
  }

  async gradients(names: readonly string[] | null | undefined): Promise<object> {
    const all = this.learner.gradients?.();
    if (!this.#host.exposesGradients || all === undefined) {
      throw new TinkerError('user', 'Start the server with --expose-gradients to read gradients.', {
        status: 404,
        code: 'unknown-route',
      });
    }
    const wanted = Object.entries(all).filter(([name]) => names == null || names.includes(name));
    const read = await Promise.all(
      wanted.map(async ([name, tensor]) => [name, await tensorOf(tensor)] as const),
    );
    return { type: 'gradients', version: this.version, gradients: Object.fromEntries(read) };
  }

  async dispose(): Promise<void> {
    await (await this.#reference?.catch(() => undefined))?.dispose();
    await this.learner.policy.dispose();
  }

  #openReference(): Promise<FixedPolicy> {
    this.#reference ??= this.learner.reference();
    return this.#reference;
  }
}

function taken<Key extends object, Batch>(prepared: WeakMap<Key, Batch>, input: Key): Batch {
  const batch = prepared.get(input);
  if (batch === undefined) throw new StateError('A request runs that was not prepared.');
  return batch;
}

/** Scores need no weights: a request without them is asked for log-probs alone. */
function withWeights(input: DataInput): DataInput {
  const data = input.data.map((one) => {
    const { loss_fn_inputs: inputs } = one;
    if (inputs.weights !== undefined) return one;
    const weights = new Float32Array(inputs.target_tokens.length).fill(1);
    return { ...one, loss_fn_inputs: { ...inputs, weights } };
  });
  return { ...input, data, loss_fn: 'cross_entropy' };
}

function outputsOf({ logprobs }: Scores, lengths: readonly number[], loss: number): object {
  let start = 0;
  const loss_fn_outputs = lengths.map((length) => {
    const own = logprobs.slice(start, start + length);
    start += length;
    return { logprobs: floats(own) };
  });
  return {
    type: 'forward_backward',
    loss_fn_output_type: 'scalar',
    loss_fn_outputs,
    metrics: { 'loss:sum': loss },
  };
}

function tensorsOf({ logprobs, entropy, values, sumSquaredProbs }: Scores): object {
  return {
    logprobs: floats(logprobs),
    entropy: floats(entropy),
    ...(values && { values: floats(values) }),
    ...(sumSquaredProbs && { sum_squared_probs: floats(sumSquaredProbs) }),
  };
}

async function tensorOf(tensor: Tensor): Promise<WireTensor> {
  const data = convert(await tensor.read(), tensor.dtype, 'f32') as Float32Array;
  return { dtype: 'f32', shape: tensor.shape, data };
}

/** The optimizer of a step, with every field of the request. */
function optimizerOf({ adam_params, optimizer: own }: z.output<typeof optimStepBody>): {
  readonly optimizer: Optimizer;
  readonly learningRate: number;
} {
  const adam = adam_params ?? adamParams.parse({});
  const { learning_rate: learningRate } = adam;
  if (own != null) {
    const { name, ...settings } = own;
    return { optimizer: createOptimizer({ name, settings }), learningRate };
  }
  const optimizer = adamw.create({
    beta1: adam.beta1,
    beta2: adam.beta2,
    eps: adam.eps,
    weightDecay: adam.weight_decay,
    maxGradNorm: adam.grad_clip_norm,
  });
  return { optimizer, learningRate };
}
