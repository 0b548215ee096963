/** Limits of each client: concurrent requests, and requests per second. */
import type { RefusalOptions } from './refusal.ts';

/** Limits of one client, that is, one address. A request beyond them gets 429 and `Retry-After`. */
export interface ClientLimitOptions {
  /** Most concurrent requests, including waiting ones. Default 4,096. */
  readonly maxConcurrent?: number;
  /** Sustained requests per second. Default 2,000. */
  readonly requestsPerSecond?: number;
  /** Requests that may come at once after a pause. Default twice `requestsPerSecond`. */
  readonly burst?: number;
}

interface Entry {
  running: number;
  /** Requests that may begin now; it fills with time. */
  tokens: number;
  filledAt: number;
}

/** Beyond this many clients, entries without a state worth keeping are dropped. */
const KEPT_CLIENTS = 10_000;

export class ClientLimits {
  readonly #maxConcurrent: number;
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clients = new Map<string, Entry>();

  constructor(options: ClientLimitOptions = {}) {
    this.#maxConcurrent = options.maxConcurrent ?? 4096;
    this.#perSecond = options.requestsPerSecond ?? 2000;
    this.#burst = Math.max(1, options.burst ?? 2 * this.#perSecond);
  }

  /**
   * Admits a request, to be followed by `leave`, or returns the refusal.
   *
   * @param now  milliseconds of a monotonic clock
   */
  enter(client: string, now: number): RefusalOptions | undefined {
    const entry = this.#entry(client, now);
    entry.tokens = this.#tokens(entry, now);
    entry.filledAt = now;
    if (entry.tokens < 1) {
      const wait = Math.ceil((1 - entry.tokens) / this.#perSecond);
      const fact = `This client sends more than ${this.#perSecond} requests a second.`;
      return tooMany('rate-limit', fact, 'rate', wait);
    }
    if (entry.running >= this.#maxConcurrent) {
      const fact = `This client has ${entry.running} requests in progress.`;
      return tooMany('too-many-requests', fact, 'concurrency', 1);
    }
    entry.tokens -= 1;
    entry.running += 1;
    return undefined;
  }

  leave(client: string): void {
    const entry = this.#clients.get(client);
    if (entry !== undefined) entry.running -= 1;
  }

  #entry(client: string, now: number): Entry {
    const known = this.#clients.get(client);
    if (known !== undefined) return known;
    if (this.#clients.size >= KEPT_CLIENTS) this.#forget(now);
    const entry = { running: 0, tokens: this.#burst, filledAt: now };
    this.#clients.set(client, entry);
    return entry;
  }

  #tokens({ tokens, filledAt }: Entry, now: number): number {
    return Math.min(this.#burst, tokens + ((now - filledAt) / 1000) * this.#perSecond);
  }

  #forget(now: number): void {
    for (const [client, entry] of this.#clients) {
      const isFull = this.#tokens(entry, now) >= this.#burst;
      if (entry.running === 0 && isFull) this.#clients.delete(client);
    }
  }
}

function tooMany(
  code: string,
  fact: string,
  rule: 'rate' | 'concurrency',
  retryAfterSeconds: number,
): RefusalOptions {
  return { status: 429, code, fact, remedy: 'Send fewer at a time.', rule, retryAfterSeconds };
}
