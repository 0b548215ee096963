/** Continuous batching: every pass takes one token of each running request, and new ones whole. */
import { ConfigError, DataError, StateError } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { gatherRows, linearSample, scope, type Tensor, tensor } from '@saccade/tensor';
import type { LanguageModel } from '../models/language-model.ts';
import type { SampleRequest, SampleResult } from '../policy.ts';
import type { CheckpointProcessor } from '../processor/checkpoint-processor.ts';
import { expectRange } from '../ranges.ts';
import { cachedPass } from './cached-pass.ts';
import { ContextStore } from './context-store.ts';
import type { CachedContext } from './conversation.ts';
import { KvCache } from './kv-cache.ts';
import { nextTurn } from './next-turn.ts';
import { PassPlan } from './pass-plan.ts';
import { StopMatcher } from './stop-matcher.ts';

/** New token rows admitted to one pass beyond the running requests: bounds a pass's memory. */
const ADMITTED_ROWS = 4096;
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
  readonly tokens: number[];
  readonly logprobs: number[];
  /** Version of the weights that sampled its first token; undefined before it ran. */
  version: number | undefined;
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A job in the passes, and what of it is cached. */
interface RunningJob extends Job {
  readonly context: CachedContext;
}

export class GenerationEngine {
  readonly #device: Device;
  readonly #model: LanguageModel;
  readonly #processor: CheckpointProcessor;
  readonly #cache: KvCache;
  readonly #contexts: ContextStore;
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

  constructor(
    device: Device,
    model: LanguageModel,
    processor: CheckpointProcessor,
    parameters: Parameters,
  ) {
    this.#device = device;
    this.#model = model;
    this.#processor = processor;
    this.#parameters = parameters;
    this.#cache = new KvCache(device, model.layers, model.kvHeads, model.headDim);
    this.#contexts = new ContextStore(this.#cache, model);
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#running.length === 0;
  }

  /** Slots of the cache in use, for leak tests. */
  get usedSlots(): number {
    return this.#cache.usedSlots;
  }

  sample(request: SampleRequest): Promise<SampleResult> {
    this.#check(request);
    const { conversation } = request;
    this.#busy.add(conversation);
    const answer = new Promise<SampleResult>((resolve, reject) => {
      const stops = new StopMatcher(request.stop, this.#processor.codec);
      const version = undefined;
      this.#waiting.push({ request, stops, tokens: [], logprobs: [], version, resolve, reject });
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
    const plan = new PassPlan(this.#cache, this.#model);
    try {
      this.#dropAborted();
      for (const { context, tokens } of this.#running) {
        plan.add(context, Int32Array.of(tokens.at(-1) as number), []);
      }
      // Entries of running jobs come first and in order; admitted jobs say which is theirs.
      const entries = this.#running.map((_, index) => index);
      this.#admit(plan, entries);
      const jobs = this.#running;
      if (jobs.length === 0) return;
      const hidden = cachedPass(this.#device, this.#parameters, this.#model, this.#cache, plan);
      try {
        const temperatures = new Set(jobs.map((job) => job.request.temperature));
        await Promise.all(
          Array.from(temperatures, (temperature) =>
            this.#sampleRows(hidden, entries, jobs, temperature),
          ),
        );
      } finally {
        hidden.dispose();
      }
      this.#running = this.#running.filter((job) => !this.#finish(job));
    } catch (error) {
      // It is unknown what the pass has written, so everything it touched is recomputed.
      for (const context of plan.contexts) this.#contexts.discard(context);
      const failed = this.#running;
      this.#running = [];
      for (const { context, reject } of failed) {
        this.#contexts.close(context);
        reject(error);
      }
    }
  }

  /** Moves waiting jobs to running while there is room; `entries` gets the plan entry of each. */
  #admit(plan: PassPlan, entries: number[]): void {
    const isHeld = this.#waiting.length > 0 && this.#waiting.length < this.#running.length;
    if (isHeld && this.#heldPasses++ < HELD_PASSES) return;
    this.#heldPasses = 0;
    const limit = plan.ids.length + ADMITTED_ROWS;
    while (plan.ids.length < limit) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      try {
        const { request } = job;
        // A request that new weights interrupted continues after its sampled tokens.
        const tokens =
          job.tokens.length === 0
            ? request.tokens
            : Int32Array.from([...request.tokens, ...job.tokens]);
        const context = this.#contexts.open({ ...request, tokens }, plan);
        this.#running.push({ ...job, version: job.version ?? this.#version, context });
        entries.push(plan.contexts.length - 1);
      } catch (error) {
        job.reject(error);
      }
    }
  }

  async #sampleRows(
    hidden: Tensor,
    entries: readonly number[],
    jobs: readonly RunningJob[],
    temperature: number,
  ): Promise<void> {
    const chosen = jobs.flatMap((job, i) => (job.request.temperature === temperature ? [i] : []));
    const keys = new Int32Array(chosen.length * 4);
    chosen.forEach((i, row) => {
      const { request, tokens } = jobs[i] as Job;
      const position = request.tokens.length + tokens.length;
      keys.set([request.seed[0], request.seed[1], position, 0], row * 4);
    });
    const index = Int32Array.from(chosen, (i) => entries[i] as number);
    const sampled = scope(() =>
      linearSample(
        gatherRows(hidden, tensor(this.#device, 'i32', [index.length], index)),
        this.#model.head(this.#parameters),
        tensor(this.#device, 'i32', [index.length, 4], keys),
        temperature,
      ),
    );
    const [tokens, logprobs] = await Promise.all([sampled.tokens.read(), sampled.logprobs.read()]);
    sampled.tokens.dispose();
    sampled.logprobs.dispose();
    chosen.forEach((i, row) => {
      const job = jobs[i] as Job;
      job.tokens.push(tokens[row] as number);
      job.logprobs.push(logprobs[row] as number);
    });
  }

  /** Resolves a job whose last token ended it. */
  #finish(job: RunningJob): boolean {
    const { request, tokens } = job;
    const last = tokens.at(-1) as number;
    const isEnd = last === this.#processor.endOfTurn && request.ignoreEndOfTurn !== true;
    const isStop = !isEnd && job.stops.push(last);
    if (!isEnd && !isStop && tokens.length < request.maxTokens) return false;
    const ids = Int32Array.from(tokens);
    this.#contexts.close(job.context);
    job.resolve({
      tokens: ids,
      logprobs: Float32Array.from(job.logprobs),
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

  /** @throws ConfigError, DataError or StateError if the request cannot be served */
  #check({ tokens, maxTokens, temperature, conversation, sharedPrefix }: SampleRequest): void {
    const { maxPositions, vocabSize } = this.#model;
    if (this.#isDisposed) throw new StateError('The policy was disposed of. Make or load another.');
    if (this.#busy.has(conversation)) {
      throw new StateError(
        `The conversation "${conversation}" still waits for an answer. Await it, or name another.`,
      );
    }
    if (!Number.isInteger(maxTokens) || maxTokens < 1) {
      throw new ConfigError(
        'maxTokens',
        `maxTokens must be a whole number of at least 1, got ${maxTokens}.`,
      );
    }
    if (!(temperature >= 0 && temperature < Infinity)) {
      throw new ConfigError('temperature', `temperature must be at least 0, got ${temperature}.`);
    }
    const length = sharedPrefix?.length ?? 0;
    if (!Number.isInteger(length) || length < 0 || length > tokens.length) {
      throw new ConfigError(
        'sharedPrefix.length',
        `sharedPrefix.length must be 0 to ${tokens.length}, the context's tokens; got ${length}.`,
      );
    }
    if (tokens.length === 0) throw new DataError('A context to continue needs at least one token.');
    if (tokens.length + maxTokens > maxPositions) {
      throw new DataError(
        `A context of ${tokens.length} tokens and ${maxTokens} more exceed the model's ` +
          `${maxPositions} positions. Shorten the context or lower maxTokens.`,
      );
    }
    expectRange('Token', tokens, 0, vocabSize);
  }
}
