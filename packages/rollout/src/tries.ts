/** How often a failed trajectory is retried. */
import { ConfigError } from '@saccade/core';
import type { Failure } from '@saccade/trajectory';

/** Retries of a trajectory after a failure, by boundary. */
export type RetryBudgets = Readonly<Partial<Record<Failure['boundary'], number>>>;

/** Tries of one trajectory, against one budget for all boundaries or one for each. */
export class Tries {
  readonly #budget: number | RetryBudgets;
  readonly #spent: Partial<Record<Failure['boundary'], number>>;

  /** @param spent retries used before, as `spent` returned them */
  constructor(budget: number | RetryBudgets = 2, spent: RetryBudgets = {}) {
    this.#budget = budget;
    this.#spent = { ...spent };
  }

  /** Retries so far, by the boundary of the failure. */
  get spent(): RetryBudgets {
    return { ...this.#spent };
  }

  /**
   * Whether to retry after a failure; if so, it is counted. A trajectory that was stopped is not
   * retried.
   */
  take({ boundary, cause = 'error' }: Failure): boolean {
    if (cause !== 'error') return false;
    const own = this.#spent[boundary] ?? 0;
    const all = Object.values(this.#spent).reduce((sum, n) => sum + n, 0);
    const isOne = typeof this.#budget === 'number';
    const budget = typeof this.#budget === 'number' ? this.#budget : (this.#budget[boundary] ?? 0);
    if ((isOne ? all : own) >= budget) return false;
    this.#spent[boundary] = own + 1;
    return true;
  }
}

/** @throws ConfigError unless every budget is a whole number from 0 */
export function checkRetries(retries: number | RetryBudgets): void {
  for (const budget of typeof retries === 'number' ? [retries] : Object.values(retries)) {
    if (Number.isInteger(budget) && budget >= 0) continue;
    throw new ConfigError(
      'rollout.retries',
      `retries must be a whole number of at least 0, is ${budget}.`,
    );
  }
}
