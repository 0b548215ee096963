/** Measures the peaks of this machine for a kernel's roofline: arithmetic and memory bandwidth. */
import { availableParallelism } from 'node:os';
import type { InstructionSet, Peaks } from '@saccade/native';
import { openAddon } from './load.ts';

/** The peak to measure: an instruction set, a number of threads, and a size of memory. */
export interface PeakOptions {
  /** Instruction set. Default: the fastest that this processor has. */
  readonly isa?: InstructionSet;
  /** Threads that work at once. Default: the system's available parallelism. */
  readonly threads?: number;
  /**
   * Bytes read front to back, by all threads together. Choose it beyond the caches, or inside one.
   */
  readonly sizeBytes: number;
}

/**
 * Measures the peak rates of multiply-adds in registers and of memory reads, in about 0.2 s.
 *
 * @throws MissingError  if the addon cannot be loaded
 */
export function measurePeaks({ isa, threads, sizeBytes }: PeakOptions): Peaks {
  const addon = openAddon();
  const best = addon.usableInstructionSets().at(-1) ?? 'generic';
  const runtime = new addon.Runtime(isa ?? best, threads ?? availableParallelism(), false);
  try {
    return runtime.probePeak(sizeBytes);
  } finally {
    runtime.close();
  }
}
