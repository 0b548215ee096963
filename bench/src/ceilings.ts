/**
 * Measured ceilings of this machine, for working sets of different sizes.
 *
 * What fits a cache is read faster than memory allows, so a case is held against the reading speed
 * for as many bytes as it touches; the sizes are powers of two and each is measured once.
 */
import { type InstructionSet, measurePeaks, type Peaks } from '@saccade/backend-native';
import type { DType } from '@saccade/core';
import type { Ceiling } from './roofline.ts';

/** Far beyond any cache: the speed of memory. */
export const MEMORY_BYTES: number = 2 ** 28;
/** Smaller sets are all in the first caches, and trials on them get short. */
const SMALLEST_BYTES = 2 ** 16;

export class Ceilings {
  readonly #measured = new Map<number, Peaks>();
  readonly #measure: (sizeBytes: number) => Peaks;

  /** @param measure  rates for a working set; each size is asked for once */
  constructor(measure: (sizeBytes: number) => Peaks) {
    this.#measure = measure;
  }

  /** The ceiling of a call that touches `workingSetBytes` with operands stored as `dtype`. */
  of(dtype: DType, workingSetBytes: number): Ceiling {
    const rounded = 2 ** Math.ceil(Math.log2(Math.max(workingSetBytes, 1)));
    const size = Math.min(Math.max(rounded, SMALLEST_BYTES), MEMORY_BYTES);
    let peaks = this.#measured.get(size);
    if (peaks === undefined) {
      peaks = this.#measure(size);
      this.#measured.set(size, peaks);
    }
    return { flops: this.#best(dtype === 'bf16' ? 'bf16' : 'f32'), bytes: peaks.readBytes };
  }

  /** Registers do not care how much memory was read: the best of all measurements. */
  #best(dtype: 'f32' | 'bf16'): number {
    return Math.max(...[...this.#measured.values()].map((peaks) => peaks[dtype]));
  }
}

/** Ceilings of the native backend with these options. */
export function nativeCeilings(isa: InstructionSet | undefined, threads: number): Ceilings {
  return new Ceilings((sizeBytes) =>
    measurePeaks({ sizeBytes, threads, ...(isa === undefined ? {} : { isa }) }),
  );
}
