/**
 * Fakes of other projects' servers: plain Tinker over a tiny policy, with the deviations that were read
 * in or measured of real ones. They prove that a measurement tells them apart. No real server is
 * here, and none of them was recorded: each deviation is written down from its description.
 */
import { randomUUID } from 'node:crypto';
import type { Device } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import { createLocalPolicy, type LocalPolicy, type LossFunction } from '@saccade/policy';
import { batchOfData } from './serve/batches.ts';
import { BlobStore } from './serve/blob-store.ts';
import { namedLoss } from './serve/named-losses.ts';
import { BASE, model, processor } from './tiny-learner.fixture.ts';
import { adamParams, type DataInput, forwardBackwardBody } from './wire/schemas.ts';

/** How a server deviates. */
export interface Quirks {
  /**
   * `normalized`: per datum Σ w·logprob / Σ w, then the mean over data (SkyRL's JAX backend);
   * `mask`: the mean where w ≠ 0 (twinkle); `inverted`: the sign is wrong; `none`: not served.
   */
  readonly crossEntropy?: 'sum' | 'normalized' | 'mask' | 'inverted' | 'none';
  /**
   * `mean`: over the positions of a datum, then over data (SkyRL's JAX backend); `active`: over the
   * positions of a request that have an advantage.
   */
  readonly importanceSampling?: 'sum' | 'mean' | 'active' | 'none';
  /** `dropped`: image chunks are skipped, and their log-probs missing. `ignored`: one image for all. */
  readonly images?: 'used' | 'dropped' | 'ignored';
  /** Fields of `adam_params` that have no effect. */
  readonly ignores?: readonly string[];
  /** Whether whole weights train although an adapter was asked for. */
  readonly trainsAll?: boolean;
  /** Whether the norm of gradients is not told. */
  readonly hidesNorm?: boolean;
  /** Whether the mean over data is one over all requests since the last step. */
  readonly meanOfStep?: boolean;
}

/** An imitation of SkyRL's JAX backend, by its source: skyrl/backends/jax.py and skyrl/tinker. */
export const skyRlJax: Quirks = {
  crossEntropy: 'normalized',
  importanceSampling: 'mean',
  images: 'dropped',
  ignores: ['grad_clip_norm'],
  meanOfStep: true,
};

export class ForeignServer {
  readonly url: string = 'http://foreign.test';
  readonly #device: Device;
  readonly #quirks: Quirks;
  readonly #models = new Map<string, LocalPolicy>();
  readonly #results = new Map<string, object>();
  /** Backward passes that wait for the count of a step's data, by model. */
  readonly #waiting = new Map<LocalPolicy, ((dataCount: number) => Promise<unknown>)[]>();
  readonly #dataCounts = new Map<LocalPolicy, number>();
  readonly #seqs = new Map<string, string>();

  constructor(device: Device, quirks: Quirks = {}) {
    this.#device = device;
    this.#quirks = quirks;
  }

  policy(id: string): LocalPolicy {
    const policy = this.#models.get(id);
    if (policy === undefined) throw new Error(`no model ${id}`);
    return policy;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input as string, init);
    const path = new URL(request.url).pathname.replace('/api/v1', '');
    const body =
      request.method === 'POST' ? ((await request.json()) as Record<string, unknown>) : {};
    try {
      return await this.#answer(path, body);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return Response.json({ detail: message }, { status: 400 });
    }
  };

  dispose(): void {
    for (const policy of this.#models.values()) policy.dispose();
    this.#models.clear();
  }

  async #answer(path: string, body: Record<string, unknown>): Promise<Response> {
    if (path === '/healthz') return Response.json({ status: 'ok' });
    if (path === '/get_server_capabilities') {
      return Response.json({ supported_models: [{ model_name: BASE }] });
    }
    if (path === '/create_session') return Response.json({ session_id: 's' });
    if (path === '/session_heartbeat') return Response.json({});
    if (path === '/retrieve_future') {
      return Response.json(this.#results.get(String(body.request_id)) ?? {});
    }
    const seq = body.seq_id === undefined ? undefined : `${body.model_id} ${body.seq_id}`;
    const known = seq === undefined ? undefined : this.#seqs.get(seq);
    if (known !== undefined) return Response.json({ request_id: known });
    const result = await this.#run(path, body);
    if (result === undefined) return Response.json({ detail: 'Not Found' }, { status: 404 });
    const id = randomUUID();
    this.#results.set(id, result);
    if (seq !== undefined) this.#seqs.set(seq, id);
    return Response.json({ request_id: id });
  }

  async #run(path: string, body: Record<string, unknown>): Promise<object | undefined> {
    const id = String(body.model_id);
    if (path === '/create_model') return this.#create(body);
    if (path === '/unload_model') {
      this.policy(id).dispose();
      this.#models.delete(id);
      return {};
    }
    if (path === '/forward') {
      return await this.#train(this.policy(id), body.forward_input, { isScoring: true });
    }
    if (path === '/forward_backward') {
      return await this.#train(this.policy(id), body.forward_backward_input, { isScoring: false });
    }
    if (path === '/optim_step') return await this.#step(this.policy(id), body.adam_params);
    return undefined;
  }

  #create({ lora_config }: Record<string, unknown>): object {
    const id = randomUUID();
    const { rank, seed = 1 } = (lora_config ?? {}) as { rank?: number; seed?: number };
    const isLora = rank !== undefined && this.#quirks.trainsAll !== true;
    const lora = {
      rank: rank ?? 1,
      alpha: 32,
      rsLora: false,
      targets: { language: ['all-linear'] },
    };
    const policy = createLocalPolicy({
      device: this.#device,
      model,
      processor,
      seed: isLora ? seed : 1,
      ...(isLora && { lora }),
    });
    this.#models.set(id, policy);
    return { model_id: id };
  }

  async #train(
    policy: LocalPolicy,
    given: unknown,
    { isScoring }: { readonly isScoring: boolean },
  ): Promise<object> {
    const whole = { model_id: 'x', forward_backward_input: given };
    const { forward_backward_input: input } = forwardBackwardBody.parse(whole);
    const { images = 'used' } = this.#quirks;
    const hasImages = JSON.stringify(given).includes('"image"');
    const bounds = { processor, vocabSize: model.vocabSize, maxTokens: 10_000 };
    if (hasImages && images === 'dropped') {
      // No error, and no log-probs: as if the datum were empty.
      return { loss_fn_outputs: input.data.map(() => ({ logprobs: data([]) })), metrics: {} };
    }
    const { batch, lengths } = await batchOfData(input.data, new BlobStore(2 ** 20), bounds);
    const blind = batch.segments.map((segment) => ({
      ...segment,
      images: segment.images.map((image) => ({
        ...image,
        patches: new Float32Array(image.patches.length),
      })),
    }));
    const seen = images === 'ignored' ? { ...batch, segments: blind } : batch;
    const scores =
      isScoring || this.#quirks.meanOfStep === true
        ? await policy.score(seen)
        : await policy.forwardBackward(seen, this.#loss(input, lengths));
    if (!isScoring && this.#quirks.meanOfStep === true) {
      const run = (dataCount: number) =>
        policy.forwardBackward(seen, this.#loss(input, lengths, dataCount));
      this.#waiting.set(policy, [...(this.#waiting.get(policy) ?? []), run]);
      this.#dataCounts.set(policy, (this.#dataCounts.get(policy) ?? 0) + lengths.length);
    }
    let start = 0;
    const loss_fn_outputs = lengths.map((length) => {
      start += length;
      return { logprobs: data([...scores.logprobs.subarray(start - length, start)]) };
    });
    return { loss_fn_outputs, metrics: {} };
  }

  #loss(
    input: DataInput,
    lengths: readonly number[],
    dataCount: number = lengths.length,
  ): LossFunction {
    const { crossEntropy = 'sum', importanceSampling = 'sum' } = this.#quirks;
    const isEntropy = input.loss_fn === 'cross_entropy';
    const kind = isEntropy ? crossEntropy : importanceSampling;
    if (kind === 'none') throw new Error(`unknown loss ${input.loss_fn}`);
    const plain = namedLoss(input);
    return (scores) => {
      const { loss, gradLogprobs } = plain(scores);
      let at = 0;
      const activeCount = gradLogprobs.filter((gradient) => gradient !== 0).length;
      const scaled = new Float32Array(gradLogprobs.length);
      input.data.forEach(({ loss_fn_inputs: { weights = new Float32Array() } }, datum) => {
        const length = lengths[datum] ?? 0;
        const sum = weights.reduce((total, weight) => total + weight, 0);
        const active = weights.filter((weight) => weight !== 0).length;
        for (let i = 0; i < length; i++, at++) {
          const own = gradLogprobs[at] as number;
          const masked = (weights[i] ?? 0) === 0 ? 0 : -1 / Math.max(1, active);
          const byWeights = own / Math.max(sum, 1e-9) / dataCount;
          if (kind === 'normalized') scaled[at] = byWeights;
          else if (kind === 'mask') scaled[at] = masked;
          else if (kind === 'active') scaled[at] = own / Math.max(1, activeCount);
          else if (kind === 'mean') scaled[at] = own / length / dataCount;
          else scaled[at] = kind === 'inverted' ? -own : own;
        }
      });
      return { loss, gradLogprobs: scaled };
    };
  }

  async #step(policy: LocalPolicy, given: unknown): Promise<object> {
    const { ignores = [], hidesNorm = false } = this.#quirks;
    const dataCount = this.#dataCounts.get(policy) ?? 0;
    for (const run of this.#waiting.get(policy) ?? []) await run(dataCount);
    this.#waiting.delete(policy);
    this.#dataCounts.delete(policy);
    const fields = Object.entries((given ?? {}) as object);
    const kept = Object.fromEntries(fields.filter(([name]) => !ignores.includes(name)));
    // What is ignored has the values that a server was built with.
    const own = { beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.01, grad_clip_norm: 0 };
    const built = Object.fromEntries(
      Object.entries(own).filter(([name]) => ignores.includes(name)),
    );
    const adam = adamParams.parse({ ...kept, ...built });
    const optimizer = adamw.create({
      beta1: adam.beta1,
      beta2: adam.beta2,
      eps: adam.eps,
      weightDecay: adam.weight_decay,
      maxGradNorm: adam.grad_clip_norm,
    });
    const { gradNorm } = await policy.optimizerStep({
      optimizer,
      learningRate: adam.learning_rate,
    });
    return { metrics: hidesNorm ? {} : { 'skyrl.ai/grad_norm': gradNorm } };
  }
}

function data(values: readonly number[]): object {
  return { data: values, dtype: 'float32', shape: [values.length] };
}
