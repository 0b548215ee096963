/**
 * The policy behind the service: in-flight requests, conversations with their caches, pauses, and
 * new weights between requests.
 */
import { createHash } from 'node:crypto';
import { StateError } from '@saccade/core';
import { imageKey } from '../engine/image-key.ts';
import type { Policy, SampleRequest, SampleResult, Sampler } from '../policy.ts';

/** The part of a policy that the service needs: sampling, and loading new weights. */
export type ServedPolicy = Sampler & Pick<Policy, 'load'>;

/** A request without the fields that the service sets itself. */
export type ServedRequest = Omit<SampleRequest, 'conversation' | 'sharedPrefix' | 'signal'> & {
  /** Requests of one session continue each other. */
  readonly session?: string;
  /** Id by which the request can be aborted. */
  readonly id?: string;
  /** Signal of the connection. */
  readonly signal: AbortSignal;
};

export interface ServedResult extends SampleResult {
  readonly weightVersion: string;
}

/** The request was aborted by another request to the service. */
export class Aborted extends StateError {
  constructor() {
    super('The request was aborted. Send it again.');
  }
}

/** A prompt by what it says and shows. */
function promptKey({ tokens, images }: Pick<SampleRequest, 'tokens' | 'images'>): string {
  const hash = createHash('sha256');
  hash.update(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength));
  for (const image of images) hash.update(` ${imageKey(image)}`);
  return `prompt/${hash.digest('base64')}`;
}

/** Most conversations with a cache; the one idle for longest is dropped first. */
const MOST_SESSIONS = 256;

export class ServedEngine {
  readonly policy: ServedPolicy;
  #weightVersion: string;
  readonly #running = new Map<AbortController, string | undefined>();
  /** Idle sessions with a cache, the one idle for longest first. */
  readonly #sessions = new Set<string>();
  readonly #busy = new Set<string>();
  /** Running requests by prompt: those of a group ask for the same one, which is computed once. */
  readonly #prompts = new Map<string, number>();
  #count = 0;
  #isPaused = false;
  #updates: Promise<void> = Promise.resolve();
  #isUpdating = false;
  #waiting: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(policy: ServedPolicy) {
    this.policy = policy;
    this.#weightVersion = String(policy.version);
  }

  get weightVersion(): string {
    return this.#weightVersion;
  }

  set weightVersion(version: string) {
    this.#weightVersion = version;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** @throws Aborted if it was aborted; the signal's reason if the connection is lost */
  async sample(request: ServedRequest): Promise<ServedResult> {
    const { session, id, signal, ...sampling } = request;
    while (this.#isPaused || this.#isUpdating) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    signal.throwIfAborted();
    const controller = new AbortController();
    this.#running.set(controller, id);
    const conversation = this.#open(session);
    const key = promptKey(sampling);
    this.#prompts.set(key, (this.#prompts.get(key) ?? 0) + 1);
    const weightVersion = this.#weightVersion;
    try {
      const result = await this.policy.sample({
        ...sampling,
        conversation,
        sharedPrefix: { key, length: sampling.tokens.length },
        signal: AbortSignal.any([signal, controller.signal]),
      });
      return { ...result, weightVersion };
    } finally {
      this.#closePrompt(key);
      this.#close(conversation, session);
      this.#running.delete(controller);
      if (this.#running.size === 0) for (const done of this.#idle.splice(0)) done();
    }
  }

  /** Holds back new requests; `abort` stops the running ones, `wait` awaits them. */
  async pause(mode: 'abort' | 'wait'): Promise<void> {
    this.#isPaused = true;
    if (mode === 'abort') this.abort();
    await this.#untilIdle();
  }

  resume(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /** Stops the requests with this id, or all without one. Returns their number. */
  abort(id?: string): number {
    const stopped = [...this.#running].filter(([, own]) => id === undefined || own === id);
    for (const [controller] of stopped) controller.abort(new Aborted());
    return stopped.length;
  }

  /** Loads weights once no request runs; new requests wait for them. */
  reload(directory: string, weightVersion?: string): Promise<void> {
    const update = this.#updates.then(async () => {
      this.#isUpdating = true;
      try {
        await this.#untilIdle();
        this.forget();
        await this.policy.load(directory);
        if (weightVersion !== undefined) this.#weightVersion = weightVersion;
      } finally {
        this.#isUpdating = false;
        this.#wake();
      }
    });
    this.#updates = update.catch(() => undefined);
    return update;
  }

  /** Drops the caches of all idle conversations. */
  forget(): void {
    for (const session of this.#sessions) this.policy.release(session);
    this.#sessions.clear();
  }

  #open(session: string | undefined): string {
    const own = session === undefined ? undefined : `session/${session}`;
    if (own === undefined || this.#busy.has(own)) return `request/${this.#count++}`;
    this.#busy.add(own);
    this.#sessions.delete(own);
    return own;
  }

  #close(conversation: string, session: string | undefined): void {
    if (conversation !== `session/${session}`) {
      this.policy.release(conversation);
      return;
    }
    this.#busy.delete(conversation);
    this.#sessions.add(conversation);
    const [quietest] = this.#sessions;
    if (this.#sessions.size <= MOST_SESSIONS || quietest === undefined) return;
    this.#sessions.delete(quietest);
    this.policy.release(quietest);
  }

  /** Nobody finds a prompt that no running request has; sessions that begin with it keep it. */
  #closePrompt(key: string): void {
    const others = (this.#prompts.get(key) ?? 0) - 1;
    if (others > 0) {
      this.#prompts.set(key, others);
      return;
    }
    this.#prompts.delete(key);
    this.policy.release(key);
  }

  async #untilIdle(): Promise<void> {
    while (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
