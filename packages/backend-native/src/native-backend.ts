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
} from '@saccade/core';
import type { InstructionSet, Runtime } from '@saccade/native';
import {
  type Backend,
  type BufferView,
  type DeviceBuffer,
  type Dims,
  type Direction,
  type Launch,
  type Op,
  operandOrder,
} from '@saccade/ops';
import { bytesOfView, copyAs, HostBuffer, HostMemory } from './host-memory.ts';
import { KernelTable } from './kernel-table.ts';
import { openAddon } from './load.ts';

export interface NativeBackendOptions {
  /** Threads that compute, the caller's included. Default: what the system offers. */
  readonly threads?: number;
  /** Instruction set; `auto` is the best this processor has. Results differ in the last bits. */
  readonly isa?: 'auto' | InstructionSet;
  /**
   * Work estimated to take less than this stays on the calling thread. Default 20: waking another
   * costs 5 to 10. No result depends on it.
   */
  readonly handOverMicroseconds?: number;
  /** Fills the kernels' workspaces with NaN before each use; for tests. */
  readonly poisonWorkspaces?: boolean;
}

const LABELS: Readonly<Record<InstructionSet, string>> = {
  generic: 'generic',
  avx2: 'AVX2',
  avx512: 'AVX-512',
};

/**
 * Opens the native CPU backend.
 *
 * Launches run to their end inside `dispatch`. The same inputs give the same bits for any number
 * of threads.
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
  if (!usable.includes(isa)) {
    throw new ConfigError(
      'isa',
      `isa is "${isa}", which cannot run here. Pass auto or one of ${usable.join(', ')}.`,
    );
  }
  const runtime = new addon.Runtime(isa, threads);
  runtime.poisonScratch(options.poisonWorkspaces ?? false);
  if (options.handOverMicroseconds !== undefined) {
    runtime.setHandOver(options.handOverMicroseconds);
  }
  return new NativeBackend(
    runtime,
    `CPU, ${LABELS[isa]}, ${threads} thread${threads === 1 ? '' : 's'}`,
  );
}

class NativeBackend implements Backend {
  readonly name = 'native';
  readonly description: string;
  readonly #memory: HostMemory;
  readonly #kernels: KernelTable;
  #runtime: Runtime | undefined;

  constructor(runtime: Runtime, description: string) {
    this.description = description;
    this.#runtime = runtime;
    this.#kernels = new KernelTable(runtime);
    this.#memory = new HostMemory((sizeBytes) => runtime.allocate(sizeBytes));
  }

  alloc(sizeBytes: number): DeviceBuffer {
    this.#open();
    return this.#memory.alloc(sizeBytes);
  }

  free(buffer: DeviceBuffer): void {
    if (!(buffer instanceof HostBuffer)) {
      throw new StateError(
        'This buffer is not one of the native backend. Free it where it is from.',
      );
    }
    this.#memory.free(buffer);
  }

  write(view: BufferView, data: ArrayBufferView): void {
    const { memory, offset, length } = this.#bytes(view);
    if (data.byteLength !== length) {
      throw new ShapeError(
        `A write to ${view.length} ${view.dtype} elements needs ${length} bytes, ` +
          `got ${data.byteLength}. Pass an array of the view's type and length.`,
      );
    }
    memory.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
  }

  async read(view: BufferView): Promise<ArrayBufferView> {
    const { memory, offset, length } = this.#bytes(view);
    return copyAs(view.dtype, memory.subarray(offset, offset + length));
  }

  supports(
    op: Op,
    direction: Direction,
    dtypes: readonly (DType | undefined)[],
    _dims: Dims,
  ): true | string {
    const binding = this.#kernels.find(op, direction);
    if (typeof binding === 'string') return binding;
    const slots = operandOrder(op, direction);
    for (const [position, { role, name }] of slots.entries()) {
      const dtype = dtypes[position];
      const isInput = role === 'input' || role === 'gradInput';
      const operand = isInput ? op.inputs[name] : op.outputs[name];
      const stored = operand?.dtypes.every((type) => type === 'i32') ? 'i32' : 'f32';
      if (dtype !== undefined && dtype !== stored) {
        return `${name} is ${dtype}; the kernel takes ${stored}.`;
      }
    }
    return true;
  }

  dispatch(launch: Launch): void {
    const { op, direction, operands, dims, scalars } = launch;
    const runtime = this.#open();
    const binding = this.#kernels.find(op, direction);
    if (typeof binding === 'string') {
      throw new UnsupportedError(
        `${op.id}: the native backend cannot run the ${direction}: ${binding} ` +
          'Ask supports() first.',
      );
    }
    const memories: (Uint8Array | undefined)[] = [];
    const ranges = new Float64Array(operands.length * 2);
    operands.forEach((view, position) => {
      if (view === undefined) {
        memories.push(undefined);
        return;
      }
      if (bytesOf(view.dtype) !== 4) {
        throw new UnsupportedError(
          `${op.id}: operand ${position} is ${view.dtype}; native kernels take f32 and i32. ` +
            'Ask supports() first.',
        );
      }
      const { memory, offset, length } = this.#bytes(view);
      memories.push(memory);
      ranges[2 * position] = offset;
      ranges[2 * position + 1] = length;
    });
    try {
      runtime.launch(
        binding.kernel,
        direction === 'backward',
        memories,
        ranges,
        binding.dims(dims),
        binding.scalars(scalars),
      );
    } catch (error) {
      // TypeError and RangeError: the launch does not fit the kernel; otherwise its data do not.
      if (error instanceof TypeError || error instanceof RangeError) {
        throw new ShapeError(messageOf(error));
      }
      throw new DataError(messageOf(error), { cause: error });
    }
  }

  async synchronize(): Promise<void> {}

  allocatedBytes(): number {
    return this.#memory.liveBytes;
  }

  dispose(): void {
    this.#runtime?.close();
    this.#runtime = undefined;
    this.#memory.dispose();
  }

  #bytes(view: BufferView): ReturnType<typeof bytesOfView> {
    return bytesOfView(this.#memory, view);
  }

  #open(): Runtime {
    if (this.#runtime === undefined) {
      throw new StateError('This native backend has been disposed. Open another one.');
    }
    return this.#runtime;
  }
}
