/** A counting semaphore, first come, first served. */

export class Permits {
  readonly count: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.count = count;
    this.#free = count;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Waits for a permit; the result gives it back, once. @throws the signal's reason if aborted */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  #wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(granted), 1);
        reject(signal?.reason);
      };
      const granted = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting.push(granted);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
