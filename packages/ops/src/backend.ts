/**
 * The backend contract: memory and queued launches on one device. A backend knows buffers and
 * kernels by op id, and nothing of tensors, models or algorithms.
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

/** Whether a launch runs an op's forward or its backward. An op's kernel for each is separate. */
export type Direction = 'forward' | 'backward';

/**
 * One launch. Operand order is fixed by the op's declaration:
 *
 * - forward: inputs, outputs;
 * - backward: gradients of the differentiable outputs, inputs, outputs, gradients of the
 *   differentiable inputs.
 *
 * `undefined` stands for an absent optional input, an output gradient that is zero, or an input
 * gradient that was not requested. An output that is updated in place of an input appears twice, as
 * the same view.
 * Gradients are overwritten, never accumulated.
 */
export interface Launch {
  readonly op: Op;
  readonly direction: Direction;
  readonly operands: readonly (BufferView | undefined)[];
  readonly dims: Dims;
  readonly scalars: Scalars;
}

/** How much of its device's memory a backend holds. */
export interface MemoryUse {
  /** Buffers allocated and not freed, and the bytes that were requested for them. */
  readonly liveBuffers: number;
  readonly liveBytes: number;
  /**
   * Allocations that the backend has from the system, and their bytes: behind live buffers, lent to
   * launches and reads, and pooled for reuse.
   */
  readonly heldBuffers: number;
  readonly heldBytes: number;
}

/**
 * One device: its memory, and kernels that run in the order of the calls. A program uses it through
 * `openDevice`, which checks shapes and dtypes first; a backend may assume that they fit.
 */
export interface Backend {
  /** `native`, `webgpu`, `reference`, … */
  readonly name: string;
  /** The device, for people: `CPU, AVX-512, 2 threads`. */
  readonly description: string;
  /** Whether a launch has run when `dispatch` returns, so that its time can be taken. Default false. */
  readonly isBlocking?: boolean;

  /** Allocates uninitialized device memory. */
  alloc(sizeBytes: number): DeviceBuffer;
  /** Returns memory; using the handle afterwards is an error. */
  free(buffer: DeviceBuffer): void;
  /** Copies host bytes to the device, in queue order. The caller may reuse `data` on return. */
  write(view: BufferView, data: ArrayBufferView): void;
  /** Fills memory with zeros, in queue order. Where a backend lacks it, they are written. */
  clear?(view: BufferView): void;
  /**
   * Waits for all work queued before it, then copies to a fresh host array of the view's dtype.
   * Rejects like `synchronize`.
   */
  read(view: BufferView): Promise<ArrayBufferView>;

  /**
   * True if this backend can run the launch, else one sentence with the reason.
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
   * @throws ShapeError or UnsupportedError at once if the launch does not fit the kernel. Invalid
   *   data that a kernel finds, such as an index out of range, is a DataError that names the op. A
   *   backend that runs launches at once throws it here, others at the next wait.
   */
  dispatch(launch: Launch): void;
  /**
   * Resolves when everything queued so far has run; rejects with the first thing that went wrong.
   *
   * A failure is reported once: to all pending waits, or to the next one if there are none.
   * Launches queued behind it are skipped until it is reported, so their outputs are undefined.
   * Writes still happen, and launches after the report run.
   */
  synchronize(): Promise<void>;
  /** Bytes allocated now, for leak tests and reports. */
  allocatedBytes(): number;
  /** Memory in use and in the pool, for finding leaks. Only backends that pool memory have it. */
  memoryUse?(): MemoryUse;
  /** Bytes of workspace that the last finished launch used besides its operands, where known. */
  workspaceBytes?(): number;
  /** Frees everything. Queued work is dropped, and pending waits reject with a StateError. */
  dispose(): void;
}
