/** Results of calls until they are read: a bounded number, for a bounded time. */
import { randomUUID } from 'node:crypto';
import { messageOf, SaccadeError } from '@saccade/core';
import { TinkerError } from '../wire/tinker-error.ts';

/** Bounds of what is kept. */
export interface FutureLimits {
  /** How long a result is kept, in seconds. */
  readonly keepSeconds: number;
  /** Most results that are kept. */
  readonly maxKept: number;
}

interface Future {
  result: Promise<object>;
  settledAt?: number;
  value?: object;
}

export class FutureStore {
  readonly #futures = new Map<string, Future>();
  readonly #limits: FutureLimits;
  readonly #onFault: (error: unknown) => void;

  constructor(limits: FutureLimits, onFault: (error: unknown) => void) {
    this.#limits = limits;
    this.#onFault = onFault;
  }

  /** Calls that have no result yet. */
  get pendingCount(): number {
    return [...this.#futures.values()].filter(({ settledAt }) => settledAt === undefined).length;
  }

  /** Keeps what a call gives, or how it failed; returns the id of its future. */
  add(run: (requestId: string) => Promise<object>): string {
    const id = randomUUID();
    const result = run(id).catch((error: unknown) => {
      if (!(error instanceof SaccadeError)) this.#onFault(error);
      return failureOf(error);
    });
    const future: Future = { result };
    this.#futures.set(id, future);
    void result.then((value) => {
      future.value = value;
      future.settledAt = Date.now();
      this.#forget();
    });
    return id;
  }

  /**
   * The result of a future, or undefined if there is none within the time.
   *
   * @throws TinkerError with status 410 if it is not known
   */
  async result(id: string, seconds: number, signal: AbortSignal): Promise<object | undefined> {
    const future = this.#futures.get(id);
    if (future === undefined) {
      throw new TinkerError('user', `There is no future ${id}, or it was forgotten. Ask again.`, {
        code: 'unknown-future',
        status: 410,
      });
    }
    if (future.value !== undefined) return future.value;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), 1000 * seconds);
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    try {
      return await Promise.race([future.result, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves once a future has its result, whatever it is. */
  async settled(id: string): Promise<void> {
    await this.#futures.get(id)?.result;
  }

  #forget(): void {
    const { keepSeconds, maxKept } = this.#limits;
    const old = Date.now() - 1000 * keepSeconds;
    const settled = [...this.#futures].filter(([, { settledAt }]) => settledAt !== undefined);
    settled.forEach(([id, { settledAt = 0 }], at) => {
      if (settledAt < old || at < settled.length - maxKept) this.#futures.delete(id);
    });
  }
}

/** The result of a call that failed, in the words of the wire. */
function failureOf(error: unknown): object {
  const own = error instanceof TinkerError ? error : undefined;
  const isTyped = error instanceof SaccadeError;
  return {
    type: 'request_failed',
    error: messageOf(error),
    category: own?.category ?? (isTyped ? 'user' : 'server'),
    ...(own !== undefined && own.fault !== 'other' && { code: own.fault }),
    ...own?.fields,
  };
}
