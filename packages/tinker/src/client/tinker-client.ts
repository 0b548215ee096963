/** A session with a server of the wire: what it can, its models, its samplers, and its heartbeat. */
import { z } from '@saccade/core/settings';
import { HttpError } from '@saccade/http';
import { encodeBody } from '../wire/bodies.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { type CallLimits, callLimits, Futures } from './model-calls.ts';
import { TinkerModel } from './tinker-model.ts';
import { type TinkerConnection, TinkerTransport } from './transport.ts';

/** Where a server is, and how long its calls may take. */
export interface TinkerClientOptions extends TinkerConnection, Partial<CallLimits> {
  /** Seconds between heartbeats of the session. Default 10. */
  readonly heartbeatSeconds?: number;
}

/** An adapter that a model is made with. */
export interface LoraRequest {
  readonly rank: number;
  readonly alpha?: number;
  readonly seed?: number;
  readonly train_mlp?: boolean;
  readonly train_attn?: boolean;
  readonly train_unembed?: boolean;
  /** Linear layers of the language model by patterns, on servers that take them. */
  readonly targets?: readonly string[];
}

/** The model to make on a server. */
export interface ModelRequest {
  readonly baseModel: string;
  /** Absent: whole weights train. */
  readonly lora?: LoraRequest;
  /** Whether it predicts returns too, on servers that can. */
  readonly valueHead?: boolean;
  /** Whether whole weights that train keep the first ones beside them, on servers that can. */
  readonly reference?: boolean;
}

const capabilitiesAnswer = z.looseObject({
  supported_models: z
    .array(z.looseObject({ model_name: z.string().nullish() }))
    .nullish()
    .catch(undefined),
  extensions: z.array(z.string()).default([]),
  optimizer: z.looseObject({ honors: z.array(z.string()).default([]) }).optional(),
  architecture: z.string().nullish(),
  vocab_size: z.number().nullish(),
  has_values: z.boolean().nullish(),
  max_tokens: z.number().nullish(),
});

/** What a server says of itself. */
export interface Capabilities {
  readonly models: readonly string[];
  /** `saccade/1`: forests, gradients of entropies, versions; `binary`; `sampling`: our samplers. */
  readonly extensions: readonly string[];
  readonly honors: readonly string[];
  readonly architecture?: string;
  readonly vocabSize?: number;
  readonly hasValues: boolean;
}

/** Starts of a server that one connection lives through. */
const MOST_LOSSES = 20;

/** Opens a session. @throws TinkerError, or HttpError if there is no server */
export async function openTinkerClient(options: TinkerClientOptions): Promise<TinkerClient> {
  const {
    heartbeatSeconds = 10,
    deadlineSeconds,
    returnSeconds,
    maxInFlight,
    lookSeconds,
    ...rest
  } = options;
  const given = { deadlineSeconds, returnSeconds, maxInFlight, lookSeconds };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const limits: CallLimits = { ...callLimits, ...Object.fromEntries(set) };
  const transport = new TinkerTransport(rest);
  const client = new TinkerClient(transport, limits, heartbeatSeconds);
  await client.connect();
  return client;
}

/** A session with a server. Use `openTinkerClient`; dispose of it, or its heartbeat goes on. */
export class TinkerClient {
  readonly transport: TinkerTransport;
  readonly #limits: CallLimits;
  readonly #heartbeatSeconds: number;
  #session = '';
  #capabilities: Capabilities = { models: [], extensions: [], honors: [], hasValues: false };
  #futures: Futures;
  #timer: ReturnType<typeof setInterval> | undefined;
  #modelCount = 0;
  #samplerCount = 0;

  constructor(transport: TinkerTransport, limits: CallLimits, heartbeatSeconds: number) {
    this.transport = transport;
    this.#limits = limits;
    this.#heartbeatSeconds = heartbeatSeconds;
    this.#futures = new Futures(transport, { isBinary: false, isOurs: false }, limits);
  }

  get capabilities(): Capabilities {
    return this.#capabilities;
  }

  get futures(): Futures {
    return this.#futures;
  }

  /** Whether the server has the extensions of this package. */
  get isOurs(): boolean {
    return this.#capabilities.extensions.includes('saccade/1');
  }

  /**
   * Waits for a server, asks what it can, and begins a session; again after it was started anew, also
   * while this went on.
   */
  async connect(): Promise<void> {
    for (let losses = 0; ; losses++) {
      try {
        return await this.#connectOnce();
      } catch (error) {
        const isLost = error instanceof TinkerError && error.isLoss;
        if (!isLost || losses >= MOST_LOSSES) throw error;
      }
    }
  }

  async #connectOnce(): Promise<void> {
    clearInterval(this.#timer);
    this.transport.forgetIncarnation();
    await this.#futures.untilThere();
    this.#capabilities = await this.#futures.patiently(() => this.#readCapabilities());
    const { extensions } = this.#capabilities;
    const form = { isBinary: extensions.includes('binary'), isOurs: this.isOurs };
    this.#futures.close();
    this.#futures = new Futures(this.transport, form, this.#limits);
    const body = { tags: ['saccade'], user_metadata: {}, sdk_version: 'saccade' };
    const answer = await this.#plain('/create_session', body);
    this.#session = z.looseObject({ session_id: z.string() }).parse(answer).session_id;
    this.#timer = setInterval(() => this.#beat(), 1000 * this.#heartbeatSeconds);
    this.#timer.unref();
  }

  /** Makes a model. @throws TinkerError if the server has no room for it, or no such base */
  async createModel(request: ModelRequest): Promise<TinkerModel> {
    const call = this.#futures.call('/create_model', this.#modelBody(request));
    const result = await call.catch((error: unknown) => {
      throw request.lora === undefined ? adaptersOnly(error) : error;
    });
    return this.#modelOf(result);
  }

  /** Makes a model if the server has room for it now; a server without room is not waited for. */
  async createModelIfRoom(request: ModelRequest): Promise<TinkerModel | undefined> {
    const body = encodeBody(this.#modelBody(request), 'json');
    try {
      const answer = await this.transport.post({ path: '/create_model', body });
      const { request_id } = z.looseObject({ request_id: z.coerce.string() }).parse(answer);
      const until = Date.now() + 1000 * this.#limits.deadlineSeconds;
      return this.#modelOf(await this.#futures.result(request_id, until));
    } catch (error) {
      const isFull = error instanceof HttpError && error.fault === 'overloaded';
      const isRefused = error instanceof TinkerError && !error.isLoss;
      if (isFull || isRefused) return undefined;
      throw error;
    }
  }

  #modelBody({ baseModel, lora, valueHead = false, reference = false }: ModelRequest): object {
    return {
      session_id: this.#session,
      model_seq_id: this.#modelCount++,
      base_model: baseModel,
      lora_config: lora ?? null,
      ...(valueHead && { value_head: true }),
      ...(reference && { reference: true }),
    };
  }

  #modelOf(result: unknown): TinkerModel {
    const { model_id } = z.looseObject({ model_id: z.string() }).parse(result);
    return new TinkerModel(model_id, this.#futures);
  }

  /**
   * Begins to sample from weights.
   *
   * @param from a path that `save_weights_for_sampler` gave, the name of a base, or a model of ours
   */
  async createSampler(
    from: { model_path: string } | { base_model: string } | { model_id: string },
  ): Promise<string> {
    const answer = await this.#plain('/create_sampling_session', {
      session_id: this.#session,
      sampling_session_seq_id: this.#samplerCount++,
      ...from,
    });
    return z.looseObject({ sampling_session_id: z.string() }).parse(answer).sampling_session_id;
  }

  /**
   * Deletes weights that were saved and are needed no more. Where a server cannot, they stay.
   *
   * @param path as `save_weights` gave it: `tinker://MODEL/weights/NAME`
   * @throws HttpError if the server cannot be reached; TinkerError if it fails
   */
  async deleteCheckpoint(path: string): Promise<void> {
    const [, model, name] = /^tinker:\/\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (model === undefined || name === undefined) return;
    try {
      await this.transport.delete(`/training_runs/${model}/checkpoints/${name}`);
    } catch (error) {
      // It is not there any more, or the server has no such call.
      if (!(error instanceof TinkerError && error.category === 'user')) throw error;
    }
  }

  /** Sends a request that is answered at once, or by a future. */
  async #plain(path: string, body: object): Promise<unknown> {
    return await this.#futures.call(path, body);
  }

  dispose(): void {
    clearInterval(this.#timer);
    this.#futures.close();
  }

  #beat(): void {
    // A lost session shows at the next call, with an error that says so.
    this.transport.postJson('/session_heartbeat', { session_id: this.#session }).catch(() => {});
  }

  async #readCapabilities(): Promise<Capabilities> {
    let answer: unknown;
    try {
      answer = await this.transport.get('/get_server_capabilities');
    } catch (error) {
      // Older servers have no such route; then nothing is claimed.
      if (error instanceof TinkerError && (error.status === 404 || error.status === 405))
        answer = {};
      else throw error;
    }
    const { supported_models, extensions, optimizer, architecture, vocab_size, has_values } =
      capabilitiesAnswer.parse(answer ?? {});
    const named = (supported_models ?? []).flatMap(({ model_name }) => model_name ?? []);
    return {
      models: named,
      extensions,
      honors: optimizer?.honors ?? [],
      hasValues: has_values ?? false,
      ...(architecture != null && { architecture }),
      ...(vocab_size != null && { vocabSize: vocab_size }),
    };
  }
}

/** The error of a server that trains adapters only, with its remedy; any other as it is. */
function adaptersOnly(error: unknown): unknown {
  if (!(error instanceof TinkerError) || error.status !== 422) return error;
  if (!error.message.includes('lora_config')) return error;
  return new TinkerError(
    'user',
    'The server trains adapters only, and none was asked for. Ask for one: model.lora.rank=16 of a ' +
      `run, --lora-rank 16 of a command. ${error.message}`,
    { code: 'unfit', field: 'lora', status: 422, cause: error },
  );
}
