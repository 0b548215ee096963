/**
 * Measured ceilings of this machine, for working sets of different sizes.
 *
 * Data that fits in a cache is read faster than memory allows, so a case is held against the read
 * speed for as many bytes as it touches; the sizes are powers of two, each measured at least once.
 */
import { type InstructionSet, measurePeaks, type Peaks } from '@saccade/backend-native';
import type { DType } from '@saccade/core';
import type { Ceiling } from './roofline.ts';

/** Far beyond any cache: the speed of memory. */
export const MEMORY_BYTES: number = 2 ** 28;
/** Smaller sets are all in the first caches, and trials on them get short. */
const SMALLEST_BYTES = 2 ** 16;

function sizeFor(workingSetBytes: number): number {
  const rounded = 2 ** Math.ceil(Math.log2(Math.max(workingSetBytes, 1)));
  return Math.min(Math.max(rounded, SMALLEST_BYTES), MEMORY_BYTES);
}

const rateOf = (dtype: DType): 'f32' | 'bf16' => (dtype === 'bf16' ? 'bf16' : 'f32');

export class Ceilings {
  readonly #measured = new Map<number, Peaks>();
  readonly #measure: (sizeBytes: number) => Peaks;

  /** @param measure  rates for a working set */
  constructor(measure: (sizeBytes: number) => Peaks) {
    this.#measure = measure;
  }

  /** The ceiling of a call that touches `workingSetBytes` with operands stored as `dtype`. */
  of(dtype: DType, workingSetBytes: number): Ceiling {
    const size = sizeFor(workingSetBytes);
    const known = this.#measured.get(size);
    const { readBytes } = known ?? this.measureAgain(size);
    return { flops: this.#best(rateOf(dtype)), bytes: readBytes };
  }

  /** The same by one measurement, made now, whatever was measured before. */
  now(dtype: DType, workingSetBytes: number): Ceiling {
    const peaks = this.#measure(sizeFor(workingSetBytes));
    return { flops: peaks[rateOf(dtype)], bytes: peaks.readBytes };
  }

  /** Measures a size once more and keeps the better of each rate. */
  measureAgain(size: number): Peaks {
    const [now, before] = [this.#measure(size), this.#measured.get(size)];
    const peaks = {
      f32: Math.max(now.f32, before?.f32 ?? 0),
      bf16: Math.max(now.bf16, before?.bf16 ?? 0),
      readBytes: Math.max(now.readBytes, before?.readBytes ?? 0),
    };
    this.#measured.set(size, peaks);
    return peaks;
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
