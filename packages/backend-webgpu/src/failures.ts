/** What kernels find wrong with their data: a record on the device, and sentences here. */
import { DataError } from '@saccade/core';
import type { GpuMemory } from './gpu-memory.ts';

/** A launch that may fail, kept until a wait has shown that it did not. */
interface Origin {
  readonly op: string;
  readonly sentences: readonly string[];
  /** Numbers of the pass, for sentences that name them. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** Passes remembered at most by one who never waits. */
const ORIGINS_KEPT = 1 << 16;

export class Failures {
  readonly record: GpuMemory;
  readonly #queue: GPUQueue;
  readonly #origins = new Map<number, Origin>();
  #latest = 0;
  /** Counts the failures reported, so that one which several waits see is taken back once. */
  #reported = 0;

  constructor(record: GpuMemory, queue: GPUQueue) {
    this.record = record;
    this.#queue = queue;
  }

  /** What a wait must remember of the moment it is queued. */
  mark(): { readonly latest: number; readonly reported: number } {
    return { latest: this.#latest, reported: this.#reported };
  }

  /** The number a pass gives its failures. */
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
   * Reads the record as it was when a wait was queued.
   *
   * @returns the failure, if there was one; it is taken back, and launches queued from now on report anew
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
