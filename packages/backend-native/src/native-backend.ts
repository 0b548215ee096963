/** The CPU backend: kernels of the native addon on pooled, aligned host memory. */
import { availableParallelism } from 'node:os';
import { ConfigError } from '@saccade/core';
import type { InstructionSet } from '@saccade/native';
import type { Backend } from '@saccade/ops';
import { AddonBackend } from './addon-backend.ts';
import { openAddon } from './load.ts';

export interface NativeBackendOptions {
  /** Threads that compute. Default: what the system offers. */
  readonly threads?: number;
  /** Instruction set; `auto` is the best this processor has. Results differ in the last bits. */
  readonly isa?: 'auto' | InstructionSet;
  /**
   * Work estimated to take less than this stays on one thread. Default 20: waking another costs 5
   * to 10. No result depends on it.
   */
  readonly handOverMicroseconds?: number;
  /**
   * `queued` (default): launches run in order on a thread of their own, one of the `threads`, while
   * JavaScript goes on. `blocking`: each runs to its end inside `dispatch` and throws what it
   * refuses there, which is easier to debug. The results are the same bits.
   */
  readonly launches?: 'queued' | 'blocking';
  /** Fills the kernels' workspaces with NaN before each use; for tests. */
  readonly poisonWorkspaces?: boolean;
}

const LABELS: Readonly<Record<InstructionSet, string>> = {
  generic: 'generic',
  avx2: 'AVX2',
  avx512: 'AVX-512',
  avx512bf16: 'AVX-512 with BF16',
  avx512pairs: 'AVX-512 with BF16 emulated',
};

/**
 * Opens the native CPU backend.
 *
 * The same inputs give the same bits for any number of threads. A backend that is given up without
 * `dispose` keeps nothing alive; a read that is waited for keeps the process alive until it is done.
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
      `isa is "${isa}", which cannot run here. Pass auto or one of ${usable.join(', ')}.`,
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
  );
}
