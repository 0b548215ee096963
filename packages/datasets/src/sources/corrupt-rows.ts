/** Rows that could not be used: counted, named, and too many of them an error. */
import { DataError, type EventSink } from '@saccade/core';

/** Rows that are named one by one; after them only counts at each power of two are told. */
const NAMED = 5;

/** The corrupt rows of one source. */
export class CorruptRows {
  readonly #name: string;
  readonly #most: number;
  readonly #rowCount: number;
  readonly #share: number;
  readonly #onEvent: EventSink | undefined;
  readonly #problems = new Map<string, string>();

  /** @param share  of the rows that may be corrupt */
  constructor(name: string, rowCount: number, share: number, onEvent?: EventSink) {
    this.#name = name;
    this.#rowCount = rowCount;
    this.#share = share;
    this.#most = Math.floor(share * rowCount);
    this.#onEvent = onEvent;
  }

  /** Problems by the address of their row. */
  get problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  /** @throws DataError if there are now more than may be */
  add(address: string, problem: string): void {
    if (this.#problems.has(address)) return;
    this.#problems.set(address, problem);
    const count = this.#problems.size;
    const counted = `${count} of ${this.#rowCount} rows of ${this.#name}`;
    if (count > this.#most) {
      const [first] = this.#problems;
      throw new DataError(
        `${counted} cannot be used, which is more than a share of ${this.#share} ` +
          `(taskSet.maxCorruptShare). The first is ${first?.[0]}: ${withStop(first?.[1] ?? '')} ` +
          'Look at all of them with `saccade data check`, or raise the share.',
      );
    }
    const isTold = count <= NAMED || Number.isInteger(Math.log2(count));
    if (!isTold) return;
    const message = `${address} is left out: ${withStop(problem)} So far ${counted}.`;
    this.#onEvent?.({ kind: 'warning', message });
  }
}

const withStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
