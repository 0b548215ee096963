/** The calls of one model in their order: each sequence number once, and nothing at the same time. */
import { TinkerError } from '../wire/tinker-error.ts';
import type { FutureStore } from './future-store.ts';

interface Known {
  readonly hash: string;
  readonly requestId: string;
}

/** A call with its place, and the hash of its bytes. */
interface EnlistedCall {
  readonly path: string;
  readonly seq: number | null | undefined;
  readonly hash: string;
}

/** Sequence numbers that are remembered, for answers that were lost. */
const REMEMBERED = 1024;

export class ModelLine {
  readonly #futures: FutureStore;
  readonly #known = new Map<number, Known>();
  readonly #waiting = new Map<string, number>();
  #next: number | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(futures: FutureStore) {
    this.#futures = futures;
  }

  /** The sequence number that comes next; undefined before the first. */
  get next(): number | undefined {
    return this.#next;
  }

  /**
   * The future that a sequence number has already, for the same bytes.
   *
   * @throws TinkerError with status 409 if it has other bytes, or comes before its turn
   */
  known(seq: number | null | undefined, hash: string): string | undefined {
    if (seq == null) return undefined;
    const known = this.#known.get(seq);
    if (known?.hash === hash) return known.requestId;
    if (known !== undefined || (this.#next !== undefined && seq < this.#next)) {
      throw new TinkerError(
        'user',
        `seq_id ${seq} was another request. Send each number once, or the same bytes again.`,
        { code: 'sequence-conflict', status: 409, field: 'seq_id' },
      );
    }
    const expected = this.#next;
    if (seq > (expected ?? 1)) {
      throw new TinkerError(
        'user',
        `seq_id ${seq} leaves a gap: expected ${expected ?? '0 or 1'}. Send the calls in order.`,
        { code: 'sequence-gap', status: 409, field: 'seq_id', fields: { expected: expected ?? 0 } },
      );
    }
    return undefined;
  }

  /** Calls of a path that have not ended. */
  waiting(path: string): number {
    return this.#waiting.get(path) ?? 0;
  }

  /** Puts a call in the line, after it was checked with `known`; gives the id of its future. */
  add({ seq, hash, path }: EnlistedCall, run: (requestId: string) => Promise<object>): string {
    const before = this.#last;
    this.#waiting.set(path, this.waiting(path) + 1);
    const requestId = this.#futures.add(async (id) => {
      await before;
      try {
        return await run(id);
      } finally {
        this.#waiting.set(path, this.waiting(path) - 1);
      }
    });
    this.#last = before.then(() => this.#futures.settled(requestId));
    if (seq != null) {
      this.#known.set(seq, { hash, requestId });
      this.#next = seq + 1;
      this.#known.delete(seq - REMEMBERED);
    }
    return requestId;
  }

  /** Resolves once every call that is in the line has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
