/** Tokens and money of the requests of a client. */
import type { TokenCounts } from './chat-reply.ts';

/** Prices of a model. */
export interface Prices {
  /** Price of 10⁶ tokens of prompts, in any currency. */
  readonly promptPrice: number;
  /** Price of 10⁶ tokens of replies, in the same currency. */
  readonly completionPrice: number;
}

/** What a client has used so far. */
export interface ChatUsage {
  /** Replies that a server gave. */
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** In the currency of the prices. */
  readonly cost: number;
  /** Replies from the cache, which cost nothing. */
  readonly cached: number;
  /** Tries that failed and were followed by another. */
  readonly retries: number;
  /** Replies whose tokens the server did not count; an estimate stands for them. */
  readonly unmetered: number;
}

const PER_PRICE = 1e6;

/** Adds up what requests use. */
export class UsageMeter {
  readonly #prices: Prices;
  #requests = 0;
  #promptTokens = 0;
  #completionTokens = 0;
  #unmetered = 0;
  cached = 0;
  retries = 0;

  constructor(prices: Prices) {
    this.#prices = prices;
  }

  /** @param isMetered whether the server counted the tokens */
  add({ promptTokens, completionTokens }: TokenCounts, isMetered: boolean): void {
    this.#requests++;
    this.#promptTokens += promptTokens;
    this.#completionTokens += completionTokens;
    if (!isMetered) this.#unmetered++;
  }

  get cost(): number {
    const { promptPrice, completionPrice } = this.#prices;
    return (
      (this.#promptTokens * promptPrice + this.#completionTokens * completionPrice) / PER_PRICE
    );
  }

  read(): ChatUsage {
    return {
      requests: this.#requests,
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
      cost: this.cost,
      cached: this.cached,
      retries: this.retries,
      unmetered: this.#unmetered,
    };
  }
}
