/** What this machine reaches at most with an instruction set and threads: a kernel's roofline. */
import { availableParallelism } from 'node:os';
import type { InstructionSet, Peaks } from '@saccade/native';
import { openAddon } from './load.ts';

export interface PeakOptions {
  /** Instruction set; default: the best this processor has. */
  readonly isa?: InstructionSet;
  /** Threads that work at once. Default: what the system offers. */
  readonly threads?: number;
  /** Memory read front to back, all threads together: beyond the caches, or inside one. */
  readonly sizeBytes: number;
}

/**
 * Measures multiply-adds in registers and the reading of memory, in about 0.2 s.
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
