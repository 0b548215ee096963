/** A counting semaphore: callers take turns, and each is served in its own order. */
import { QueueFullError } from './errors.ts';

export interface Wait {
  readonly signal?: AbortSignal | undefined;
  /** The caller; callers get permits in turns, however many each asks for. */
  readonly caller?: string | undefined;
}

export class Permits {
  readonly count: number;
  readonly maxWaiting: number;
  #free: number;
  #waitingCount = 0;
  /** By caller, whose turn is next first; sets, so that giving up costs the same at any length. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(count: number, maxWaiting: number = Number.POSITIVE_INFINITY) {
    this.count = count;
    this.maxWaiting = maxWaiting;
    this.#free = count;
  }

  get waiting(): number {
    return this.#waitingCount;
  }

  get held(): number {
    return this.count - this.#free;
  }

  /**
   * Waits for a permit; the result gives it back, once.
   *
   * @throws QueueFullError if too many wait already, the signal's reason if aborted
   */
  async acquire({ signal, caller = '' }: Wait = {}): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(caller, signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#next();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  #next(): (() => void) | undefined {
    for (const [caller, queue] of this.#waiting) {
      for (const granted of queue) {
        this.#remove(caller, queue, granted);
        if (queue.size > 0) {
          // To the end of the line of callers.
          this.#waiting.delete(caller);
          this.#waiting.set(caller, queue);
        }
        return granted;
      }
    }
    return undefined;
  }

  #remove(caller: string, queue: Set<() => void>, granted: () => void): void {
    if (!queue.delete(granted)) return;
    this.#waitingCount -= 1;
    if (queue.size === 0) this.#waiting.delete(caller);
  }

  #wait(caller: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waitingCount >= this.maxWaiting) throw new QueueFullError(this.#waitingCount);
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(caller) ?? new Set();
      const onAbort = (): void => {
        this.#remove(caller, queue, granted);
        reject(signal?.reason);
      };
      const granted = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      queue.add(granted);
      this.#waiting.set(caller, queue);
      this.#waitingCount += 1;
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
