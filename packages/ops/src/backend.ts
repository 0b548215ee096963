/**
 * The backend contract: memory and queued launches on one device. A backend knows buffers and
 * kernels by op id; it knows no tensors, no models and no algorithms.
 */
import type { DType } from '@saccade/core';
import type { Dims, Op, Scalars } from './op.ts';

/** A backend's own handle for device memory; opaque to everyone else. */
export interface DeviceBuffer {
  readonly sizeBytes: number;
}

/** A contiguous piece of a buffer, read as `dtype`. */
export interface BufferView {
  readonly buffer: DeviceBuffer;
  readonly offsetBytes: number;
  readonly dtype: DType;
  /** Number of elements. */
  readonly length: number;
}

export type Direction = 'forward' | 'backward';

/**
 * One launch. Operand order is fixed by the op's declaration:
 *
 * - forward: inputs, outputs;
 * - backward: gradients of the differentiable outputs, inputs, outputs, gradients of the
 *   differentiable inputs.
 *
 * `undefined` stands for an absent optional input, an output gradient that is zero, or an input
 * gradient nobody asked for.
 * An output in place of an input is there twice, as the same view.
 * Gradients are overwritten, never accumulated.
 */
export interface Launch {
  readonly op: Op;
  readonly direction: Direction;
  readonly operands: readonly (BufferView | undefined)[];
  readonly dims: Dims;
  readonly scalars: Scalars;
}

/** What a backend holds of its device's memory. */
export interface MemoryUse {
  /** Buffers allocated and not freed, and their bytes as they were asked for. */
  readonly liveBuffers: number;
  readonly liveBytes: number;
  /**
   * Allocations that the backend has of the system, and their bytes: those behind live buffers, those
   * lent to launches and reads, and those kept for the next.
   */
  readonly heldBuffers: number;
  readonly heldBytes: number;
}

export interface Backend {
  /** `native`, `webgpu`, `reference`, … */
  readonly name: string;
  /** What this is, for people: `CPU, AVX-512, 2 threads`. */
  readonly description: string;

  /** Uninitialised device memory. */
  alloc(sizeBytes: number): DeviceBuffer;
  /** Returns memory; using the handle afterwards is an error. */
  free(buffer: DeviceBuffer): void;
  /** Copies host bytes to the device, in queue order; `data` is the caller's again at once. */
  write(view: BufferView, data: ArrayBufferView): void;
  /**
   * Waits for all work queued before it, then copies to a fresh host array of the view's dtype.
   * Rejects like `synchronize`.
   */
  read(view: BufferView): Promise<ArrayBufferView>;

  /**
   * True if this backend can run the launch, else one sentence why not.
   *
   * @param dtypes  of the operands in launch order, `undefined` where one is absent
   */
  supports(
    op: Op,
    direction: Direction,
    dtypes: readonly (DType | undefined)[],
    dims: Dims,
  ): true | string;
  /**
   * Queues a launch. Work runs in the order of the calls, perhaps after this returns.
   *
   * @throws ShapeError or UnsupportedError at once if the launch does not fit the kernel. What a
   *   kernel finds wrong with its data, an index out of range say, is a DataError naming the op:
   *   thrown here by a backend that runs launches at once, else by the next wait.
   */
  dispatch(launch: Launch): void;
  /**
   * Resolves when everything queued so far has run; rejects with the first thing that went wrong.
   *
   * A failure is reported once, to the waits under way and to the next one if there are none. Until
   * it has been reported the launches behind it are skipped, so what they were to write is
   * undefined; writes still happen, and launches after the report run.
   */
  synchronize(): Promise<void>;
  /** Bytes now allocated, for leak tests and reports. */
  allocatedBytes(): number;
  /** How memory stands, for those who look for leaks; where the backend pools it. */
  memoryUse?(): MemoryUse;
  /** Bytes of workspace that the latest launch to end took beside its operands, where known. */
  workspaceBytes?(): number;
  /** Frees everything. Queued work is dropped; whoever waits for it gets a StateError. */
  dispose(): void;
}
