/** Requests and tokens per minute: a request waits until both allow it. */

/** What a server allows; absent: no limit. */
export interface RateLimits {
  readonly requestsPerMinute?: number;
  /** Tokens of prompts and replies together. */
  readonly tokensPerMinute?: number;
}

/** Time and waiting, for tests. */
export interface Clock {
  /** Milliseconds. */
  now(): number;
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

const MINUTE_MS = 60_000;

/**
 * Two buckets that fill evenly, each with room for a minute. A request takes one place and its
 * estimated tokens, in the order of the calls; `settle` corrects the estimate afterwards, and
 * `holdUntil` stops everything for as long as the server asked.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #limits: { readonly requests: number; readonly tokens: number };
  #level: { requests: number; tokens: number };
  #filledAt: number;
  #heldUntil = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor(limits: RateLimits, clock: Clock = realClock) {
    const { requestsPerMinute, tokensPerMinute } = limits;
    this.#clock = clock;
    this.#limits = {
      requests: requestsPerMinute ?? Number.POSITIVE_INFINITY,
      tokens: tokensPerMinute ?? Number.POSITIVE_INFINITY,
    };
    this.#level = { ...this.#limits };
    this.#filledAt = clock.now();
  }

  /**
   * Resolves when a request of so many tokens may be sent. One that is larger than a minute's tokens
   * waits for a full bucket.
   *
   * @throws the signal's reason if it is aborted
   */
  take(tokens: number, signal?: AbortSignal): Promise<void> {
    const turn = this.#queue.then(() => this.#take(tokens, signal));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Corrects the estimate of a request that is over. */
  settle(estimated: number, used: number): void {
    this.#level.tokens += estimated - used;
  }

  /** Sends nothing for so long. */
  holdFor(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#clock.now() + ms);
  }

  async #take(tokens: number, signal: AbortSignal | undefined): Promise<void> {
    const { requests: perMinute, tokens: tokensPerMinute } = this.#limits;
    const needed = Math.min(tokens, tokensPerMinute);
    for (;;) {
      signal?.throwIfAborted();
      this.#fill();
      const waits = [
        this.#heldUntil - this.#clock.now(),
        ((1 - this.#level.requests) / perMinute) * MINUTE_MS,
        ((needed - this.#level.tokens) / tokensPerMinute) * MINUTE_MS,
      ].filter((wait) => wait > 0);
      if (waits.length === 0) break;
      await this.#clock.wait(Math.ceil(Math.max(...waits)), signal);
    }
    this.#level.requests -= 1;
    this.#level.tokens -= tokens;
  }

  #fill(): void {
    const now = this.#clock.now();
    const share = (now - this.#filledAt) / MINUTE_MS;
    this.#filledAt = now;
    for (const kind of ['requests', 'tokens'] as const) {
      const most = this.#limits[kind];
      this.#level[kind] =
        most === Number.POSITIVE_INFINITY ? most : Math.min(most, this.#level[kind] + share * most);
    }
  }
}

const realClock: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end);
        resolve();
      }, ms);
      signal?.addEventListener('abort', end, { once: true });
    }),
};
