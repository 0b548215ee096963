/** A backend on a runtime of the addon: pooled memory, and launches passed on as numbers. */
import {
  bytesOf,
  DataError,
  type DType,
  messageOf,
  ShapeError,
  StateError,
  UnsupportedError,
  viewBytes,
} from '@saccade/core';
import type { KernelRuntime } from '@saccade/native';
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
import { CudaError, isDriverError, isOutOfMemory } from './cuda-error.ts';
import { KernelTable } from './kernel-table.ts';

/** Storage types by their numbers in the addon. */
const STORAGES: Readonly<Partial<Record<DType, 0 | 1 | 2>>> = { f32: 0, bf16: 1, f16: 2 };

/** Memory of the runtime; launches refer to it by id. */
interface RuntimeMemory {
  readonly id: number;
  readonly sizeBytes: number;
}

/** A backend on a runtime of the addon, which its `dispose` closes. */
export class AddonBackend implements Backend {
  readonly name: string;
  readonly description: string;
  readonly isBlocking: boolean;
  readonly #memory: PooledMemory<RuntimeMemory>;
  readonly #kernels: KernelTable;
  readonly #arguments: Float64Array;
  #runtime: KernelRuntime | undefined;

  /**
   * @param name        the backend's name in messages: `native`
   * @param isBlocking  whether the runtime was opened so that its launches run at once
   */
  constructor(name: string, runtime: KernelRuntime, description: string, isBlocking = false) {
    this.name = name;
    this.description = description;
    this.isBlocking = isBlocking;
    this.#runtime = runtime;
    this.#kernels = new KernelTable(runtime);
    this.#memory = new PooledMemory(name, {
      allocate: (sizeBytes) => ({ id: calling(() => runtime.allocate(sizeBytes)), sizeBytes }),
      release: ({ id }) => calling(() => runtime.release(id)),
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
    calling(() => runtime.write(id, view.offsetBytes, data));
  }

  async read(view: BufferView): Promise<ArrayBufferView> {
    const runtime = this.#open();
    const { id } = this.#memory.locate(view);
    const sizeBytes = view.length * bytesOf(view.dtype);
    try {
      return viewBytes(view.dtype, await runtime.read(id, view.offsetBytes, sizeBytes));
    } catch (error) {
      throw this.#waitError(error);
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
        `${op.id}: the ${this.name} backend cannot run the ${direction}: ${binding} ` +
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
    const storage = STORAGES[storageOf(binding.operands[direction], operands)] ?? 0;
    const launch = (): void => {
      runtime.launch(
        binding.kernel,
        direction === 'backward',
        storage,
        operands.length,
        binding.axes.length,
        binding.scalars.length,
      );
    };
    try {
      launch();
    } catch (error) {
      // The pooled memory may be exactly what the kernel's workspace lacks.
      if (!isOutOfMemory(error) || !this.#memory.releaseFree()) throw launchError(error);
      try {
        launch();
      } catch (again) {
        throw launchError(again);
      }
    }
  }

  async synchronize(): Promise<void> {
    const runtime = this.#open();
    try {
      await runtime.synchronize();
    } catch (error) {
      throw this.#waitError(error);
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

  #open(): KernelRuntime {
    if (this.#runtime === undefined) {
      throw new StateError(`This ${this.name} backend has been disposed. Open another one.`);
    }
    return this.#runtime;
  }

  /** The error of a failed wait, as the class that says whose fault it is. */
  #waitError(error: unknown): Error {
    if (error instanceof Error && 'code' in error && error.code === 'closed') {
      return new StateError(
        `This ${this.name} backend was disposed of before the work was done. ` +
          'Await it before dispose().',
      );
    }
    return launchError(error);
  }
}

/** Runs a call of the runtime; an error of the driver becomes a `CudaError`. */
function calling<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw isDriverError(error) ? new CudaError(error) : error;
  }
}

/** The error of a failed launch or wait, as the class that says whose fault it is. */
function launchError(error: unknown): Error {
  if (isDriverError(error)) return new CudaError(error);
  // TypeError and RangeError: the launch does not fit the kernel; otherwise its data do not.
  if (error instanceof TypeError || error instanceof RangeError) {
    return new ShapeError(messageOf(error));
  }
  return new DataError(messageOf(error), { cause: error });
}
