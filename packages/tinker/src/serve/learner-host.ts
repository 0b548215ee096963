/** What a learner server holds: sessions, models with their lines, samplers, images, results. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { createModelBody, sampleBody, samplingSessionBody } from '../wire/schemas.ts';
import { TinkerError } from '../wire/tinker-error.ts';
import { BlobStore } from './blob-store.ts';
import { FutureStore } from './future-store.ts';
import type { LearnerModels } from './learner-models.ts';
import { ModelLine } from './model-line.ts';
import { Samplers } from './samplers.ts';
import { SavedPaths } from './saved-paths.ts';
import { ServedModel } from './served-model.ts';

/** What is served, where it is saved, and the bounds of what is held. */
export interface LearnerHostOptions {
  readonly models: LearnerModels;
  /** Directory below which weights are saved. */
  readonly directory: string;
  /** Most models at a time. Default 4. */
  readonly maxModels?: number;
  /** Most tokens of a request. Default 2²⁰. */
  readonly maxTokens?: number;
  /** Most bytes of images that are held. Default 4 GiB. */
  readonly maxBlobBytes?: number;
  /** How long results are kept, in seconds. Default 600. */
  readonly keepSeconds?: number;
  /** Most results that are kept. Default 256. */
  readonly maxKept?: number;
  /** Most calls that wait for their results. Default 256. */
  readonly maxPending?: number;
  /** Models of a session without a heartbeat for so long are unloaded. Default 3600. */
  readonly sessionSeconds?: number;
  /**
   * Where there is no room for another model, those of a session without a heartbeat for so long make
   * it, so that a run whose process was killed can go on. Default 60: clients say that they live
   * every ten seconds.
   */
  readonly silentSeconds?: number;
  /** Whether clients may read gradients, for conformance. Default false. */
  readonly exposesGradients?: boolean;
  /** Receives faults. Default `console.error`. */
  readonly onFault?: (error: unknown) => void;
}

interface HeldModel {
  readonly model: ServedModel;
  readonly line: ModelLine;
  readonly session: string;
}

/** A call of a model: its place, and the hash of its bytes. */
interface Enlisted {
  readonly path: string;
  readonly modelId: string;
  readonly seq: number | null | undefined;
  readonly hash: string;
}

export class LearnerHost {
  readonly incarnation: string = randomUUID();
  readonly futures: FutureStore;
  readonly blobs: BlobStore;
  readonly samplers: Samplers;
  readonly saved: SavedPaths;
  readonly maxTokens: number;
  readonly #options: LearnerHostOptions;
  /** Time of each session's last sign of life. */
  readonly #sessions = new Map<string, number>();
  readonly #models = new Map<string, HeldModel>();
  /** Futures of models by session and number, so that a model asked for twice is made once. */
  readonly #created = new Map<string, { readonly hash: string; readonly requestId: string }>();
  /** Policies that samplers have of their own. */
  readonly #own = new Map<string, Promise<ServedModel>>();
  #opening = 0;
  readonly #sweeper: ReturnType<typeof setInterval>;

  constructor(options: LearnerHostOptions) {
    const { keepSeconds = 600, maxKept = 256, maxBlobBytes = 4 * 2 ** 30 } = options;
    const { onFault = console.error, maxTokens = 2 ** 20 } = options;
    this.#options = options;
    this.futures = new FutureStore({ keepSeconds, maxKept }, onFault);
    this.blobs = new BlobStore(maxBlobBytes);
    this.samplers = new Samplers(this.blobs);
    this.saved = new SavedPaths(options.directory);
    this.maxTokens = maxTokens;
    const { sessionSeconds = 3600 } = options;
    this.#sweeper = setInterval(() => this.#sweep(sessionSeconds), 250 * sessionSeconds);
    this.#sweeper.unref();
  }

  createSession(): string {
    const id = randomUUID();
    this.#sessions.set(id, Date.now());
    return id;
  }

  heartbeat(session: string): void {
    this.#expectSession(session);
    this.#sessions.set(session, Date.now());
  }

  /** @throws TinkerError with status 404 if it is not known */
  model(id: string): ServedModel {
    return this.#held(id).model;
  }

  /** Opens a model; gives the id of the future that tells its name. */
  async createModel(body: z.output<typeof createModelBody>, hash: string): Promise<string> {
    const { session_id: session, model_seq_id, base_model, lora_config } = body;
    this.#expectSession(session);
    const key = model_seq_id == null ? undefined : `${session} ${model_seq_id}`;
    const known = key === undefined ? undefined : this.#created.get(key);
    if (known?.hash === hash) return known.requestId;
    if (known !== undefined) {
      throw new TinkerError('user', `model_seq_id ${model_seq_id} was another model.`, {
        code: 'sequence-conflict',
        status: 409,
        field: 'model_seq_id',
      });
    }
    const { names } = this.#options.models;
    if (!names.includes(base_model)) {
      throw new TinkerError(
        'user',
        `There is no base "${base_model}". Known: ${names.join(', ')}.`,
        {
          status: 404,
          field: 'base_model',
        },
      );
    }
    await this.#makeRoom();
    // The same request may have come twice meanwhile.
    const made = key === undefined ? undefined : this.#created.get(key);
    if (made?.hash === hash) return made.requestId;
    this.#expectRoom();
    const id = `m-${randomUUID().slice(0, 13)}`;
    const lora = lora_config == null || lora_config.rank === 0 ? undefined : lora_config;
    this.#opening++;
    const requestId = this.futures.add(async () => {
      try {
        const model = await this.#open(id, {
          baseModel: base_model,
          valueHead: body.value_head,
          ...(lora && { lora }),
        });
        this.#models.set(id, { model, line: new ModelLine(this.futures), session });
      } finally {
        this.#opening--;
      }
      return { type: 'create_model', model_id: id };
    });
    if (key !== undefined) this.#created.set(key, { hash, requestId });
    return requestId;
  }

  /**
   * Puts a call in its model's line; gives the id of its future, the same one for the same bytes.
   *
   * @param prepare checks the call before it has a place
   */
  async enlist(
    { modelId, seq, hash, path }: Enlisted,
    run: (model: ServedModel, requestId: string) => Promise<object>,
    prepare?: (model: ServedModel, queuedSteps: number) => Promise<void>,
  ): Promise<string> {
    const { model, line, session } = this.#held(modelId);
    this.#sessions.set(session, Date.now());
    const known = line.known(seq, hash);
    if (known !== undefined) return known;
    const { maxPending = 256 } = this.#options;
    if (this.futures.pendingCount >= maxPending) {
      throw new TinkerError('capacity', `${maxPending} calls wait already. Send this one later.`, {
        status: 429,
      });
    }
    await prepare?.(model, line.waiting('/optim_step'));
    // The same request may have come twice meanwhile.
    const call = { seq, hash, path };
    return line.known(seq, hash) ?? line.add(call, (requestId) => run(model, requestId));
  }

  /** Ends a model once its calls have ended. */
  unload(id: string): string {
    const held = this.#held(id);
    this.#models.delete(id);
    return this.futures.add(async () => {
      await this.#end(held);
      return { type: 'unload_model', model_id: id };
    });
  }

  /** @throws TinkerError if there are no such weights */
  async createSampler(body: z.output<typeof samplingSessionBody>): Promise<string> {
    const { base_model, model_path, model_id } = body;
    if (model_id != null) {
      const { learner, bounds } = this.model(model_id);
      return this.samplers.add({ policy: learner.policy, bounds });
    }
    if (model_path != null) {
      const [, modelId = ''] = /^tinker:\/\/([^/]+)\//.exec(model_path) ?? [];
      const held = this.#models.get(modelId);
      const version = held && this.saved.versionOf(model_path);
      if (held !== undefined && version === held.model.version) {
        const { policy } = held.model.learner;
        return this.samplers.add({ policy, bounds: held.model.bounds, version });
      }
      this.saved.directoryOf(model_path);
    }
    const own = await this.#ownModel(model_path ?? base_model ?? this.#firstName(), model_path);
    return this.samplers.add({ policy: own.learner.policy, bounds: own.bounds });
  }

  /** Samples; gives the id of the future. */
  async sample(body: z.output<typeof sampleBody>): Promise<string> {
    const { sampling_session_id: given, base_model, model_path } = body;
    const id = given ?? (await this.createSampler({ base_model, model_path }));
    const session = this.samplers.session(id);
    return this.futures.add(() => this.samplers.sample(session, body));
  }

  async dispose(): Promise<void> {
    clearInterval(this.#sweeper);
    const held = [...this.#models.values()];
    this.#models.clear();
    for (const one of held) await this.#end(one);
    for (const own of this.#own.values()) await (await own).dispose();
    this.#own.clear();
  }

  async #end({ model, line }: HeldModel): Promise<void> {
    await line.idle();
    this.samplers.forget(model.learner.policy);
    await model.dispose();
  }

  async #open(id: string, spec: Parameters<LearnerModels['open']>[0]): Promise<ServedModel> {
    const learner = await this.#options.models.open(spec);
    return new ServedModel(id, spec.baseModel, learner, {
      blobs: this.blobs,
      saved: this.saved,
      bounds: { maxTokens: this.maxTokens },
      exposesGradients: this.#options.exposesGradients ?? false,
    });
  }

  /** A policy that nobody trains: a base, or weights that were saved. */
  #ownModel(key: string, path: string | null | undefined): Promise<ServedModel> {
    const known = this.#own.get(key);
    if (known !== undefined) return known;
    this.#expectRoom();
    const opened = this.#openOwn(key, path);
    this.#own.set(key, opened);
    opened.catch(() => this.#own.delete(key));
    return opened;
  }

  async #openOwn(key: string, path: string | null | undefined): Promise<ServedModel> {
    if (path == null) return await this.#open(randomUUID(), { baseModel: key });
    const spec = { baseModel: this.#firstName(), from: this.saved.directoryOf(path) };
    return await this.#open(randomUUID(), spec);
  }

  #firstName(): string {
    return this.#options.models.names[0] ?? '';
  }

  #held(id: string): HeldModel {
    const held = this.#models.get(id);
    if (held !== undefined) return held;
    throw new TinkerError('user', `There is no model ${id}. Create one.`, {
      code: 'unknown-model',
      status: 404,
      field: 'model_id',
    });
  }

  #expectSession(id: string): void {
    if (this.#sessions.has(id)) return;
    throw new TinkerError('user', `There is no session ${id}. Create one.`, {
      status: 404,
      field: 'session_id',
    });
  }

  #hasRoom(): boolean {
    const { maxModels = 4 } = this.#options;
    return this.#models.size + this.#own.size + this.#opening < maxModels;
  }

  #expectRoom(): void {
    const { maxModels = 4 } = this.#options;
    if (this.#hasRoom()) return;
    throw new TinkerError(
      'capacity',
      `${maxModels} models are open, as many as there may be. Unload one.`,
      { status: 429, code: 'models-full' },
    );
  }

  /** Ends the models of whoever was silent for longest, where there is no room without. */
  async #makeRoom(): Promise<void> {
    const { silentSeconds = 60 } = this.#options;
    const old = Date.now() - 1000 * silentSeconds;
    const seen = ({ session }: HeldModel): number => this.#sessions.get(session) ?? 0;
    const silent = [...this.#models]
      .filter(([, held]) => seen(held) < old)
      .sort(([, a], [, b]) => seen(a) - seen(b));
    for (const [id] of silent) {
      if (this.#hasRoom()) return;
      await this.futures.settled(this.unload(id));
    }
  }

  /** Unloads the models of sessions that show no sign of life. */
  #sweep(sessionSeconds: number): void {
    const old = Date.now() - 1000 * sessionSeconds;
    for (const [session, seen] of this.#sessions) {
      if (seen > old) continue;
      this.#sessions.delete(session);
      for (const [id, held] of this.#models) if (held.session === session) this.unload(id);
    }
  }
}
