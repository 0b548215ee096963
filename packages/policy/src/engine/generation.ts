/** Continuous batching: every pass takes one token of each running request, and new ones whole. */
import { DataError, StateError } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { gatherRows, linearSample, scope, type Tensor, tensor } from '@saccade/tensor';
import type { ModelConfig } from '../models/config.ts';
import { countPictures } from '../models/positions.ts';
import { lmHead } from '../models/qwen2-5-vl.ts';
import type { SampleRequest, SampleResult } from '../policy.ts';
import type { QwenProcessor } from '../processor/qwen-processor.ts';
import { cachedPass } from './cached-pass.ts';
import { CachedContext } from './conversation.ts';
import { KvCache } from './kv-cache.ts';
import { PassPlan } from './pass-plan.ts';
import { StopMatcher } from './stop-matcher.ts';

/** New token rows admitted to one pass beyond the running requests: bounds a pass's memory. */
const ADMITTED_ROWS = 4096;

interface Job {
  readonly request: SampleRequest;
  readonly stops: StopMatcher;
  readonly tokens: number[];
  readonly logprobs: number[];
  context: CachedContext | undefined;
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (error: unknown) => void;
}

export class GenerationEngine {
  readonly #device: Device;
  readonly #config: ModelConfig;
  readonly #processor: QwenProcessor;
  readonly #cache: KvCache;
  readonly #prefixes = new Map<string, CachedContext>();
  readonly #conversations = new Map<string, CachedContext>();
  #parameters: Parameters;
  #waiting: Job[] = [];
  #running: Job[] = [];
  #isLooping = false;
  #version = 0;

  constructor(
    device: Device,
    config: ModelConfig,
    processor: QwenProcessor,
    parameters: Parameters,
  ) {
    this.#device = device;
    this.#config = config;
    this.#processor = processor;
    this.#parameters = parameters;
    const headDim = config.hidden / config.heads;
    this.#cache = new KvCache(device, config.layers, config.kvHeads, headDim);
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#running.length === 0;
  }

  /** Slots of the cache in use, for leak tests. */
  get usedSlots(): number {
    return this.#cache.usedSlots;
  }

  sample(request: SampleRequest): Promise<SampleResult> {
    const { tokens, maxTokens, temperature } = request;
    if (tokens.length === 0) throw new DataError('A context to continue needs at least one token.');
    if (maxTokens < 1) throw new DataError(`maxTokens must be at least 1, got ${maxTokens}.`);
    if (!(temperature >= 0)) {
      throw new DataError(`temperature must be at least 0, got ${temperature}.`);
    }
    if (tokens.length + maxTokens > this.#config.maxPositions) {
      throw new DataError(
        `A context of ${tokens.length} tokens and ${maxTokens} more exceed the model's ` +
          `${this.#config.maxPositions} positions. Shorten the context or lower maxTokens.`,
      );
    }
    return new Promise((resolve, reject) => {
      const stops = new StopMatcher(request.stop, this.#processor.codec);
      const job = { request, stops, tokens: [], logprobs: [], context: undefined, resolve, reject };
      this.#waiting.push(job);
      if (!this.#isLooping) {
        this.#isLooping = true;
        setImmediate(() => void this.#loop());
      }
    });
  }

  /** Frees the cache of a conversation, or of a shared prefix no conversation uses any more. */
  release(key: string): void {
    for (const contexts of [this.#conversations, this.#prefixes]) {
      const context = contexts.get(key);
      if (context === undefined) continue;
      contexts.delete(key);
      this.#cache.release(context.slots);
    }
  }

  /** Drops all caches, because the weights changed. @throws StateError while requests run */
  reset(parameters: Parameters, version: number): void {
    if (!this.isIdle) {
      throw new StateError('The weights changed while requests were running. Await them first.');
    }
    this.#parameters = parameters;
    this.#version = version;
    for (const contexts of [this.#conversations, this.#prefixes]) {
      for (const { slots } of contexts.values()) this.#cache.release(slots);
      contexts.clear();
    }
  }

  dispose(): void {
    const closed = new StateError('The policy was disposed of while this request was running.');
    for (const job of [...this.#waiting, ...this.#running]) job.reject(closed);
    this.#waiting = [];
    this.#running = [];
    this.#cache.dispose();
  }

  async #loop(): Promise<void> {
    while (!this.isIdle) {
      try {
        await this.#pass();
      } catch (error) {
        const failed = this.#running;
        this.#running = [];
        for (const { request, reject } of failed) {
          this.release(request.conversation);
          if (request.sharedPrefix) this.release(request.sharedPrefix.key);
          reject(error);
        }
      }
      // Sandboxes answer between passes.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isLooping = false;
  }

  async #pass(): Promise<void> {
    this.#dropAborted();
    const plan = new PassPlan(this.#cache, this.#config);
    for (const job of this.#running) {
      plan.add(job.context as CachedContext, Int32Array.of(job.tokens.at(-1) as number), []);
    }
    // Rows of running jobs come first and in order; admitted jobs say which row is theirs.
    const rows = this.#running.map((_, index) => index);
    this.#admit(plan, rows);
    const jobs = this.#running;
    if (jobs.length === 0) return;
    const hidden = cachedPass(this.#device, this.#parameters, this.#config, this.#cache, plan);
    try {
      for (const temperature of new Set(jobs.map((job) => job.request.temperature))) {
        await this.#sampleRows(hidden, rows, jobs, temperature);
      }
    } finally {
      hidden.dispose();
    }
    this.#running = jobs.filter((job) => !this.#finish(job));
  }

  /** Moves waiting jobs to running while there is room; `rows` gets the plan entry of each. */
  #admit(plan: PassPlan, rows: number[]): void {
    const limit = plan.ids.length + ADMITTED_ROWS;
    while (this.#waiting.length > 0 && plan.ids.length < limit) {
      const job = this.#waiting.shift() as Job;
      const { request } = job;
      try {
        const context = this.#contextOf(request, plan);
        const tokens = request.tokens.slice(context.length);
        plan.add(context, tokens, request.images.slice(context.imageCount));
        rows.push(plan.contexts.length - 1);
        job.context = context;
        this.#running.push(job);
      } catch (error) {
        this.release(request.conversation);
        job.reject(error);
      }
    }
  }

  /** What is cached of a request: its conversation, or a new one on its shared prefix. */
  #contextOf(request: SampleRequest, plan: PassPlan): CachedContext {
    const cached = this.#conversations.get(request.conversation);
    if (cached?.begins(request.tokens) && cached.length < request.tokens.length) return cached;
    if (cached) this.release(request.conversation);
    const context = new CachedContext(this.#prefixOf(request, plan));
    this.#conversations.set(request.conversation, context);
    return context;
  }

  /** The shared prefix of a request; one that is not cached yet is added to the plan. */
  #prefixOf(request: SampleRequest, plan: PassPlan): CachedContext | undefined {
    if (request.sharedPrefix === undefined) return undefined;
    const { key, length } = request.sharedPrefix;
    // Every request computes at least one token itself: the one its first sample follows.
    const shared = Math.min(length, request.tokens.length - 1);
    if (shared === 0) return undefined;
    const existing = this.#prefixes.get(key);
    if (existing !== undefined) {
      if (existing.length === shared && existing.begins(request.tokens)) return existing;
      throw new DataError(
        `Two requests share the prefix "${key}" but begin differently. Use one key a prompt.`,
      );
    }
    const tokens = request.tokens.slice(0, shared);
    const context = new CachedContext();
    const pictures = countPictures(tokens, request.images, this.#config);
    plan.add(context, tokens, request.images.slice(0, pictures));
    this.#prefixes.set(key, context);
    return context;
  }

  async #sampleRows(
    hidden: Tensor,
    rows: readonly number[],
    jobs: readonly Job[],
    temperature: number,
  ): Promise<void> {
    const chosen = jobs.flatMap((job, i) => (job.request.temperature === temperature ? [i] : []));
    const keys = new Int32Array(chosen.length * 4);
    chosen.forEach((i, row) => {
      const { request, tokens } = jobs[i] as Job;
      const position = request.tokens.length + tokens.length;
      keys.set([request.seed[0], request.seed[1], position, 0], row * 4);
    });
    const index = Int32Array.from(chosen, (i) => rows[i] as number);
    const sampled = scope(() =>
      linearSample(
        gatherRows(hidden, tensor(this.#device, 'i32', [index.length], index)),
        lmHead(this.#parameters, this.#config),
        tensor(this.#device, 'i32', [index.length, 4], keys),
        temperature,
      ),
    );
    const tokens = await sampled.tokens.read();
    const logprobs = await sampled.logprobs.read();
    sampled.tokens.dispose();
    sampled.logprobs.dispose();
    chosen.forEach((i, row) => {
      const job = jobs[i] as Job;
      job.tokens.push(tokens[row] as number);
      job.logprobs.push(logprobs[row] as number);
    });
  }

  /** Resolves a job whose last token ended it. */
  #finish(job: Job): boolean {
    const { request, tokens } = job;
    const last = tokens.at(-1) as number;
    const isEnd = last === this.#processor.endOfTurn && request.ignoreEndOfTurn !== true;
    const isStop = !isEnd && job.stops.push(last);
    if (!isEnd && !isStop && tokens.length < request.maxTokens) return false;
    const ids = Int32Array.from(tokens);
    job.resolve({
      tokens: ids,
      logprobs: Float32Array.from(job.logprobs),
      text: this.#processor.decode(isEnd ? ids.subarray(0, -1) : ids),
      finish: isEnd ? 'endOfTurn' : isStop ? 'stop' : 'length',
      policyVersion: this.#version,
    });
    return true;
  }

  #dropAborted(): void {
    const isLive = (job: Job) => {
      const { signal } = job.request;
      if (signal?.aborted !== true) return true;
      this.release(job.request.conversation);
      job.reject(signal.reason);
      return false;
    };
    this.#waiting = this.#waiting.filter(isLive);
    this.#running = this.#running.filter(isLive);
  }
}
