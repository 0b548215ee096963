/** Continuous batching: every pass takes one token of each running request, and new ones whole. */
import { type DType, StateError, span } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import type { Tensor } from '@saccade/tensor';
import type { LanguageModel } from '../models/language-model.ts';
import type { SampleRequest, SampleResult } from '../policy.ts';
import type { CheckpointProcessor } from '../processor/checkpoint-processor.ts';
import { isTruncated } from '../truncation.ts';
import { cachedPass } from './cached-pass.ts';
import { checkRequest } from './check-request.ts';
import { ContextStore } from './context-store.ts';
import type { CachedContext } from './conversation.ts';
import { type EngineSettings, engineSettings } from './engine-settings.ts';
import { ImageFeatures } from './image-features.ts';
import { cacheDtype, KvCache, PAGE } from './kv-cache.ts';
import { nextTurn } from './next-turn.ts';
import { PassPlan } from './pass-plan.ts';
import { tokenPart } from './prefill.ts';
import { bySampling, type Draw, type RowSampling, rowSampling, sampleRows } from './sample-rows.ts';
import { StopMatcher } from './stop-matcher.ts';

/**
 * Requests that arrive while others run wait until they are as many, but no longer than this many
 * passes. The turns of a tool loop are short and come back one by one: started one by one they make
 * many passes of few rows, and a row costs half as much among 256 as among 50.
 */
const HELD_PASSES = 64;

/** How in-flight requests and caches are handled when the weights change. */
export type InFlight = 'refuse' | 'recompute' | 'keep';

interface Job {
  readonly request: SampleRequest;
  readonly stops: StopMatcher;
  readonly sampling: RowSampling;
  readonly tokens: number[];
  readonly draws: Draw[];
  /** Version of the weights that sampled its first token; undefined before. */
  version: number | undefined;
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A job in the passes, and what of it is cached. */
interface RunningJob extends Job {
  readonly context: CachedContext;
}

/** A job whose next token a pass samples, from the last row of an entry of its plan. */
interface SampledJob {
  readonly job: RunningJob;
  readonly entry: number;
}

export class GenerationEngine {
  readonly #device: Device;
  readonly #model: LanguageModel;
  readonly #processor: CheckpointProcessor;
  readonly #cache: KvCache;
  readonly #contexts: ContextStore;
  readonly #images: ImageFeatures;
  readonly #settings: EngineSettings;
  /** Conversations with a request that is not answered yet. */
  readonly #busy = new Set<string>();
  #parameters: Parameters;
  #waiting: Job[] = [];
  #running: RunningJob[] = [];
  /** Passes for which requests have waited now. */
  #heldPasses = 0;
  #isLooping = false;
  /** The pass under way, and what holds up the next one. */
  #passing: Promise<void> = Promise.resolve();
  #held: Promise<void> | undefined;
  #isDisposed = false;
  #version = 0;
  #computedRows = 0;

  constructor(
    device: Device,
    model: LanguageModel,
    processor: CheckpointProcessor,
    parameters: Parameters,
    settings: Partial<EngineSettings> = {},
  ) {
    this.#device = device;
    this.#model = model;
    this.#processor = processor;
    this.#parameters = parameters;
    this.#settings = engineSettings.parse(settings);
    const { layers, kvHeads, headDim } = model;
    const { kvCacheTokens, imageCacheMebibytes } = this.#settings;
    const dtype = cacheDtype(this.#settings, parameters);
    const pages = kvCacheTokens === 0 ? Infinity : Math.max(1, Math.floor(kvCacheTokens / PAGE));
    this.#cache = new KvCache(device, { dtype, layers, kvHeads, headDim, pages });
    this.#images = new ImageFeatures(device, model, imageCacheMebibytes * 2 ** 20);
    this.#contexts = new ContextStore(this.#cache, model);
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#running.length === 0;
  }

  /** Token rows that passes have computed, for tests of what is computed once. */
  get computedRows(): number {
    return this.#computedRows;
  }

  /** Images that the vision tower has computed for passes. */
  get computedImages(): number {
    return this.#images.computed;
  }

  /** The element type of its keys and values. */
  get cacheDtype(): DType {
    return this.#cache.dtype;
  }

  /** Slots of the cache in use, for leak tests. */
  get usedSlots(): number {
    return this.#cache.usedSlots;
  }

  sample(request: SampleRequest): Promise<SampleResult> {
    if (this.#isDisposed) throw new StateError('The policy was disposed of. Make or load another.');
    const { conversation } = request;
    if (this.#busy.has(conversation)) {
      throw new StateError(
        `The conversation "${conversation}" still waits for an answer. Await it, or name another.`,
      );
    }
    checkRequest(request, this.#model, this.#settings);
    this.#busy.add(conversation);
    const answer = new Promise<SampleResult>((resolve, reject) => {
      const stops = new StopMatcher(request.stop, this.#processor.codec);
      const version = undefined;
      const sampling = rowSampling(request);
      const job = { request, stops, sampling, tokens: [], draws: [], version, resolve, reject };
      this.#waiting.push(job);
      if (!this.#isLooping) {
        this.#isLooping = true;
        void nextTurn().then(() => this.#loop());
      }
    });
    return answer.finally(() => this.#busy.delete(conversation));
  }

  /** Releases a conversation or shared prefix; its slots are freed with its last user. */
  release(key: string): void {
    this.#contexts.release(key);
  }

  /** @throws StateError while requests run: they must all see the same weights */
  expectIdle(): void {
    if (this.isIdle) return;
    throw new StateError('The weights cannot change while requests are running. Await them first.');
  }

  /** Does work between two passes; the next pass waits for it. */
  async betweenPasses<Value>(work: () => Promise<Value>): Promise<Value> {
    const before = this.#held;
    let letGo = (): void => {};
    this.#held = new Promise((resolve) => {
      letGo = resolve;
    });
    const held = this.#held;
    try {
      await before;
      await this.#passing;
      return await work();
    } finally {
      if (this.#held === held) this.#held = undefined;
      letGo();
    }
  }

  /**
   * Continues with other weights. `recompute` drops all caches and recomputes the whole context of
   * running requests; `keep` leaves every cache as it is.
   *
   * @throws StateError for `refuse` while requests run
   */
  reset(parameters: Parameters, version: number, inFlight: InFlight = 'refuse'): void {
    if (inFlight === 'refuse') this.expectIdle();
    this.#parameters = parameters;
    this.#version = version;
    this.#images.clear();
    // What is kept is of the earlier weights: those who have it go on, nobody else finds it.
    this.#cache.index.clear();
    if (inFlight === 'keep') return;
    for (const { context } of this.#running) this.#contexts.close(context);
    this.#waiting = [...this.#running, ...this.#waiting];
    this.#running = [];
    this.#contexts.clear();
  }

  dispose(): void {
    this.#isDisposed = true;
    const closed = new StateError('The policy was disposed of while this request was running.');
    for (const job of [...this.#waiting, ...this.#running]) job.reject(closed);
    this.#waiting = [];
    this.#running = [];
    this.#contexts.clear();
    this.#images.clear();
    this.#cache.dispose();
  }

  async #loop(): Promise<void> {
    while (!this.isIdle) {
      while (this.#held !== undefined) await this.#held;
      this.#passing = this.#pass();
      await this.#passing;
      // Sandboxes answer between passes.
      await nextTurn();
    }
    this.#isLooping = false;
  }

  async #pass(): Promise<void> {
    const plan = new PassPlan(this.#cache);
    try {
      this.#dropAborted();
      const sampled = span('sampling/plan', () => this.#plan(plan));
      if (plan.ids.length === 0) return;
      this.#computedRows += plan.ids.length;
      const kept = { cache: this.#cache, images: this.#images };
      const hidden = span('sampling/pass', () =>
        cachedPass(this.#device, this.#parameters, this.#model, kept, plan),
      );
      try {
        await Promise.all(bySampling(sampled).map((own) => this.#sampleRows(hidden, own)));
      } finally {
        hidden.dispose();
      }
      const ended = new Set(
        span('sampling/finish', () => sampled.filter(({ job }) => this.#finish(job))).map(
          ({ job }) => job,
        ),
      );
      this.#running = this.#running.filter((job) => !ended.has(job));
    } catch (error) {
      // It is unknown what the pass has written, so everything it touched is recomputed.
      for (const context of plan.contexts) this.#contexts.discard(context);
      const failed = this.#running;
      this.#running = [];
      for (const { context, reject } of failed) {
        this.#contexts.close(context);
        this.#contexts.discard(context);
        reject(error);
      }
    }
  }

  /**
   * Plans a token of each running request, and a chunk of prompts and observations: first of those
   * that run, then of those that wait. Gives the jobs whose next token the pass samples.
   */
  #plan(plan: PassPlan): readonly SampledJob[] {
    const sampled: SampledJob[] = [];
    let budget = this.#settings.prefillChunkTokens;
    const advance = (job: RunningJob): void => {
      const before = plan.ids.length;
      if (plan.prefill(job.context, budget)) sampled.push({ job, entry: plan.contexts.length - 1 });
      budget -= plan.ids.length - before;
    };
    for (let i = 0; i < this.#running.length; i++) {
      const job = this.#running[i] as RunningJob;
      const { context, tokens } = job;
      const isDecoding = context.prefill === undefined;
      if (!this.#makeRoomFor(job, isDecoding ? context.slots.pagesFor(1) : context.missingPages)) {
        break;
      }
      if (!isDecoding) {
        if (budget > 0) advance(job);
        continue;
      }
      plan.add(context, tokenPart(tokens.at(-1) as number, context.nextPosition));
      sampled.push({ job, entry: plan.contexts.length - 1 });
    }
    const isHeld = this.#isHeld();
    while (budget > 0 && !isHeld) {
      const job = this.#admit();
      if (job === undefined) break;
      advance(job);
    }
    return sampled;
  }

  /**
   * Finds pages for a running job: those of contexts that nobody reads, then those of the jobs that
   * came last, which wait again and are recomputed. False if the job itself had to give way.
   */
  #makeRoomFor(job: RunningJob, pages: number): boolean {
    while (!this.#contexts.makeRoom(pages)) {
      const last = this.#running.pop() as RunningJob;
      this.#contexts.close(last.context);
      this.#contexts.discard(last.context);
      this.#waiting.unshift(last);
      if (last === job) return false;
    }
    return true;
  }

  /** Whether those that wait are to wait for more of them. */
  #isHeld(): boolean {
    const isHeld = this.#waiting.length > 0 && this.#waiting.length < this.#running.length;
    if (isHeld && this.#heldPasses++ < HELD_PASSES) return true;
    this.#heldPasses = 0;
    return false;
  }

  /** Moves the next waiting job to running, if there is room for all of its context. */
  #admit(): RunningJob | undefined {
    for (;;) {
      const job = this.#waiting.shift();
      if (job === undefined) return undefined;
      try {
        const { request } = job;
        // A request that new weights interrupted continues after its sampled tokens.
        const tokens =
          job.tokens.length === 0
            ? request.tokens
            : Int32Array.from([...request.tokens, ...job.tokens]);
        const context = this.#contexts.open({ ...request, tokens });
        const running = { ...job, context };
        // A page more for each that decodes, so that it need not give way at once.
        const spare = this.#running.length;
        if (this.#contexts.makeRoom(context.missingPages + spare) || spare === 0) {
          this.#running.push(running);
          return running;
        }
        this.#contexts.close(context);
        this.#contexts.discard(context);
        this.#waiting.unshift(job);
        return undefined;
      } catch (error) {
        job.reject(error);
      }
    }
  }

  /** Samples the next token of jobs that are sampled in the same way. */
  async #sampleRows(hidden: Tensor, alike: readonly SampledJob[]): Promise<void> {
    const keys = alike.flatMap(({ job: { request, tokens } }) => {
      return [...request.seed, request.tokens.length + tokens.length, 0];
    });
    const rows = Int32Array.from(alike, ({ entry }) => entry);
    const head = this.#model.head(this.#parameters);
    const { sampling } = (alike[0] as SampledJob).job;
    const draws = await sampleRows(hidden, head, rows, Int32Array.from(keys), sampling);
    for (const [i, { job }] of alike.entries()) {
      const draw = draws[i] as Draw;
      job.version ??= this.#version;
      job.tokens.push(draw.token);
      job.draws.push(draw);
    }
  }

  /** Resolves a job whose last token ended it. */
  #finish(job: RunningJob): boolean {
    const { request, tokens } = job;
    const last = tokens.at(-1) as number;
    request.onToken?.(last);
    const isEnd = last === this.#processor.endOfTurn && request.ignoreEndOfTurn !== true;
    const isStop = !isEnd && job.stops.push(last);
    if (!isEnd && !isStop && tokens.length < request.maxTokens) return false;
    const ids = Int32Array.from(tokens);
    this.#contexts.close(job.context);
    job.resolve({
      tokens: ids,
      logprobs: Float32Array.from(job.draws, ({ logprob }) => logprob),
      ...(isTruncated(job.sampling) && {
        keptMass: Float32Array.from(job.draws, ({ keptMass = 1 }) => keptMass),
      }),
      text: this.#processor.decode(isEnd ? ids.subarray(0, -1) : ids),
      finish: isEnd ? 'endOfTurn' : isStop ? 'stop' : 'length',
      policyVersion: job.version ?? this.#version,
    });
    return true;
  }

  #dropAborted(): void {
    const isLive = (job: Job) => job.request.signal?.aborted !== true;
    const running = this.#running;
    const waiting = this.#waiting;
    this.#running = running.filter(isLive);
    this.#waiting = waiting.filter(isLive);
    for (const job of running) {
      if (isLive(job)) continue;
      this.#contexts.close(job.context);
      job.reject(job.request.signal?.reason);
    }
    for (const job of waiting) if (!isLive(job)) job.reject(job.request.signal?.reason);
  }
}
