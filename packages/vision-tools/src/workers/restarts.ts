/** When a pool may start another worker: backoff after failures, and a breaker after many. */

/** Bounds of restarts. */
export interface RestartLimits {
  /** Milliseconds before the second start; doubled with every failure in a row. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Failures in a row after which calls are refused at once. */
  readonly breakAfter: number;
  /** Milliseconds until one more start is tried. */
  readonly coolingMs: number;
}

/** From 0.1 to 5 seconds apart; a pause of 30 seconds after six failures in a row. */
export const defaultRestartLimits: RestartLimits = {
  firstDelayMs: 100,
  maxDelayMs: 5000,
  breakAfter: 6,
  coolingMs: 30_000,
};

/** Counts failures in a row; times are of any clock that only grows, in milliseconds. */
export class Restarts {
  readonly #limits: RestartLimits;
  #failures = 0;
  #last = 0;
  #reason = '';

  constructor(limits: RestartLimits) {
    this.#limits = limits;
  }

  /** A worker did its work. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** A worker ended that should not have. */
  failed(now: number, reason: string): void {
    this.#failures++;
    this.#last = now;
    this.#reason = reason;
  }

  /** Milliseconds to wait before the next start. */
  delay(now: number): number {
    if (this.#failures === 0) return 0;
    const { firstDelayMs, maxDelayMs } = this.#limits;
    const pause = Math.min(maxDelayMs, firstDelayMs * 2 ** (this.#failures - 1));
    return Math.max(0, this.#last + pause - now);
  }

  /** Why no worker is started now, if so. */
  broken(now: number): string | undefined {
    const { breakAfter, coolingMs } = this.#limits;
    if (this.#failures < breakAfter || now >= this.#last + coolingMs) return undefined;
    return (
      `workers failed ${this.#failures} times in a row, the last with: ${this.#reason} ` +
      `The next one starts in ${Math.ceil((this.#last + coolingMs - now) / 1000)} s.`
    );
  }
}
