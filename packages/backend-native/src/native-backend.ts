/** The CPU backend: kernels of the native addon on pooled, aligned host memory. */
import { availableParallelism } from 'node:os';
import { ConfigError } from '@saccade/core';
import type { InstructionSet } from '@saccade/native';
import type { Backend } from '@saccade/ops';
import { AddonBackend } from './addon-backend.ts';
import { openAddon } from './load.ts';

/** Options of `nativeBackend`. Only `isa` can change results, and only in their last bits. */
export interface NativeBackendOptions {
  /** Kernel threads, from 1 to 1024. Default: the system's available parallelism. */
  readonly threads?: number;
  /** Instruction set; `auto`, the default, is the fastest that this processor has. */
  readonly isa?: 'auto' | InstructionSet;
  /**
   * Work estimated to take less than this, in µs, stays on one thread. Default: 4 while the other
   * threads look out for work, as they do for 30 µs after the last; then 20, since waking one costs 5
   * to 10.
   */
  readonly handOverMicroseconds?: number;
  /**
   * `queued`, the default: launches run in order on one of the `threads` while JavaScript
   * continues. `blocking`: each finishes inside `dispatch` and throws its errors there, which is
   * easier to debug. Results have the same bits.
   */
  readonly launches?: 'queued' | 'blocking';
  /** Fills the kernels' workspaces with NaN before each use; for tests. */
  readonly poisonWorkspaces?: boolean;
}

const LABELS: Readonly<Record<InstructionSet, string>> = {
  generic: 'generic',
  avx2: 'AVX2',
  avx2vnni: 'AVX2 with VNNI',
  avx512: 'AVX-512',
  avx512bf16: 'AVX-512 with BF16',
  avx512amx: 'AVX-512 with AMX',
  avx512pairs: 'AVX-512 with BF16 emulated',
};

/**
 * Opens the native CPU backend.
 *
 * The same inputs give the same bits for any number of threads. A backend that is abandoned without
 * `dispose` keeps nothing alive; a pending read keeps the process alive until it is done.
 *
 * @throws MissingError  if the addon cannot be loaded, with the reason and the remedy
 * @throws ConfigError   if an option is not usable here
 */
export function nativeBackend(options: NativeBackendOptions = {}): Backend {
  const threads = options.threads ?? availableParallelism();
  if (!Number.isInteger(threads) || threads < 1 || threads > 1024) {
    throw new ConfigError('threads', `threads is ${threads}. Pass an integer from 1 to 1024.`);
  }
  const addon = openAddon();
  const usable = addon.usableInstructionSets();
  const wanted = options.isa ?? 'auto';
  const isa = wanted === 'auto' ? (usable.at(-1) ?? 'generic') : wanted;
  if (!usable.includes(isa) && !addon.emulatedInstructionSets().includes(isa)) {
    throw new ConfigError(
      'isa',
      `isa is "${isa}", which this processor lacks or the addon was built without. ` +
        `Pass auto or one of ${usable.join(', ')}; in a clone, \`SACCADE_SWEEP=1 node native/build.mjs --tests\` ` +
        'builds all that it has.',
    );
  }
  const runtime = new addon.Runtime(isa, threads, (options.launches ?? 'queued') === 'queued');
  runtime.poisonScratch(options.poisonWorkspaces ?? false);
  if (options.handOverMicroseconds !== undefined) {
    runtime.setHandOver(options.handOverMicroseconds);
  }
  return new AddonBackend(
    'native',
    runtime,
    `CPU, ${LABELS[isa]}, ${threads} thread${threads === 1 ? '' : 's'}`,
    options.launches === 'blocking',
  );
}
