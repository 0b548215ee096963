/** The CPU backend: kernels of the native addon on pooled, aligned host memory. */
import { availableParallelism } from 'node:os';
import {
  bytesOf,
  ConfigError,
  DataError,
  type DType,
  messageOf,
  ShapeError,
  StateError,
  UnsupportedError,
  viewBytes,
} from '@saccade/core';
import type { InstructionSet, Runtime } from '@saccade/native';
import type {
  Backend,
  BufferView,
  DeviceBuffer,
  Dims,
  Direction,
  Launch,
  MemoryUse,
  Op,
} from '@saccade/ops';
import { PooledMemory, refuseDtypes, storageOf } from '@saccade/ops/backend';
import { KernelTable } from './kernel-table.ts';
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

/** Storage types as the addon counts them. */
const [F32, BF16] = [0, 1] as const;

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
  return new NativeBackend(
    runtime,
    `CPU, ${LABELS[isa]}, ${threads} thread${threads === 1 ? '' : 's'}`,
  );
}

/** Aligned host memory, which launches name by its id. */
interface HostMemory {
  readonly id: number;
  readonly sizeBytes: number;
}

class NativeBackend implements Backend {
  readonly name = 'native';
  readonly description: string;
  readonly #memory: PooledMemory<HostMemory>;
  readonly #kernels: KernelTable;
  readonly #arguments: Float64Array;
  #runtime: Runtime | undefined;

  constructor(runtime: Runtime, description: string) {
    this.description = description;
    this.#runtime = runtime;
    this.#kernels = new KernelTable(runtime);
    this.#memory = new PooledMemory('native', {
      allocate: (sizeBytes) => ({ id: runtime.allocate(sizeBytes), sizeBytes }),
      release: ({ id }) => runtime.release(id),
    });
    this.#arguments = runtime.arguments();
  }

  alloc(sizeBytes: number): DeviceBuffer {
    this.#open();
    return this.#memory.alloc(sizeBytes);
  }

  free(buffer: DeviceBuffer): void {
    this.#memory.free(buffer);
  }

  write(view: BufferView, data: ArrayBufferView): void {
    const runtime = this.#open();
    const { id } = this.#memory.locate(view);
    const sizeBytes = view.length * bytesOf(view.dtype);
    if (data.byteLength !== sizeBytes) {
      throw new ShapeError(
        `A write to ${view.length} ${view.dtype} elements needs ${sizeBytes} bytes, ` +
          `got ${data.byteLength}. Pass an array of the view's type and length.`,
      );
    }
    runtime.write(id, view.offsetBytes, data);
  }

  async read(view: BufferView): Promise<ArrayBufferView> {
    const runtime = this.#open();
    const { id } = this.#memory.locate(view);
    const sizeBytes = view.length * bytesOf(view.dtype);
    try {
      return viewBytes(view.dtype, await runtime.read(id, view.offsetBytes, sizeBytes));
    } catch (error) {
      throw waitError(error);
    }
  }

  supports(
    op: Op,
    direction: Direction,
    dtypes: readonly (DType | undefined)[],
    _dims: Dims,
  ): true | string {
    const binding = this.#kernels.find(op, direction);
    if (typeof binding === 'string') return binding;
    return refuseDtypes(binding.operands[direction], binding.storages[direction], dtypes) ?? true;
  }

  dispatch({ op, direction, operands, dims, scalars }: Launch): void {
    const runtime = this.#open();
    const binding = this.#kernels.find(op, direction);
    if (typeof binding === 'string') {
      throw new UnsupportedError(
        `${op.id}: the native backend cannot run the ${direction}: ${binding} ` +
          'Ask supports() first.',
      );
    }
    // Plain loops into one array: this runs some thousands of times per second.
    const numbers = this.#arguments;
    let at = 0;
    for (const view of operands) {
      if (view === undefined) {
        numbers[at] = -1;
      } else {
        numbers[at] = this.#memory.locate(view).id;
        numbers[at + 1] = view.offsetBytes;
        numbers[at + 2] = view.length * bytesOf(view.dtype);
      }
      at += 3;
    }
    for (const axis of binding.axes) numbers[at++] = dims[axis] ?? 0;
    for (const name of binding.scalars) numbers[at++] = scalars[name] ?? Number.NaN;
    try {
      runtime.launch(
        binding.kernel,
        direction === 'backward',
        storageOf(binding.operands[direction], operands) === 'bf16' ? BF16 : F32,
        operands.length,
        binding.axes.length,
        binding.scalars.length,
      );
    } catch (error) {
      // TypeError and RangeError: the launch does not fit the kernel; otherwise its data do not.
      if (error instanceof TypeError || error instanceof RangeError) {
        throw new ShapeError(messageOf(error));
      }
      throw new DataError(messageOf(error), { cause: error });
    }
  }

  async synchronize(): Promise<void> {
    const runtime = this.#open();
    try {
      await runtime.synchronize();
    } catch (error) {
      throw waitError(error);
    }
  }

  allocatedBytes(): number {
    return this.#memory.liveBytes;
  }

  memoryUse(): MemoryUse {
    return this.#memory.use;
  }

  workspaceBytes(): number {
    return this.#open().workspaceBytes();
  }

  dispose(): void {
    this.#runtime?.close();
    this.#runtime = undefined;
    this.#memory.dispose();
  }

  #open(): Runtime {
    if (this.#runtime === undefined) {
      throw new StateError('This native backend has been disposed. Open another one.');
    }
    return this.#runtime;
  }
}

/** What a wait failed with, as the class that says whose fault it is. */
function waitError(error: unknown): Error {
  if (error instanceof Error && 'code' in error && error.code === 'closed') {
    return new StateError(
      'This native backend was disposed of before the work was done. Await it before dispose().',
    );
  }
  return new DataError(messageOf(error), { cause: error });
}
