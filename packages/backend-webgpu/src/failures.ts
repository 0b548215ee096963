/** Invalid data that kernels find: a record on the device, and its sentences here. */
import { DataError } from '@saccade/core';
import type { GpuMemory } from './gpu-memory.ts';

/** A launch that may fail, kept until a wait shows that it did not. */
interface Origin {
  readonly op: string;
  readonly sentences: readonly string[];
  /** Numbers of the pass, for the sentences that contain them. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** Most passes remembered if the program never waits. */
const ORIGINS_KEPT = 1 << 16;

export class Failures {
  readonly record: GpuMemory;
  readonly #queue: GPUQueue;
  readonly #origins = new Map<number, Origin>();
  #latest = 0;
  /** Counts reported failures, so that one that several waits see is cleared once. */
  #reported = 0;

  constructor(record: GpuMemory, queue: GPUQueue) {
    this.record = record;
    this.#queue = queue;
  }

  /** The state at the time a wait is queued. */
  mark(): { readonly latest: number; readonly reported: number } {
    return { latest: this.#latest, reported: this.#reported };
  }

  /** The number under which a pass reports its failures. */
  add(op: string, sentences: readonly string[], numbers: Readonly<Record<string, number>>): number {
    const launch = ++this.#latest;
    this.#origins.set(launch, { op, sentences, numbers });
    if (this.#origins.size > ORIGINS_KEPT) {
      for (const oldest of this.#origins.keys()) {
        this.#origins.delete(oldest);
        break;
      }
    }
    return launch;
  }

  /**
   * Reads the record as of the time a wait was queued.
   *
   * @returns  the failure, if there was one; it is cleared, so that later launches can report again
   */
  check(
    words: Uint32Array,
    mark: { readonly latest: number; readonly reported: number },
  ): DataError | undefined {
    const [count = 0, launch = 0, sentence = 0, index = 0, value = 0] = words;
    if (count === 0) {
      this.#forget(mark.latest);
      return undefined;
    }
    if (mark.reported === this.#reported) {
      this.#reported++;
      this.#queue.writeBuffer(this.record.buffer, 0, new Uint32Array(words.length));
    }
    const origin = this.#origins.get(launch);
    if (origin === undefined) return new DataError('A kernel found its data wrong. Check indices.');
    const values: Readonly<Record<string, number>> = {
      ...origin.numbers,
      index,
      value: value | 0,
    };
    const text = (origin.sentences[sentence] ?? 'its data are wrong.').replaceAll(
      /\{(\w+)\}/g,
      (whole, name: string) => (name in values ? `${values[name]}` : whole),
    );
    return new DataError(`${origin.op}: ${text}`);
  }

  #forget(latest: number): void {
    for (const launch of this.#origins.keys()) {
      if (launch > latest) return;
      this.#origins.delete(launch);
    }
  }
}
