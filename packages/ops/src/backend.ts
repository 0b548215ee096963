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

export interface Backend {
  /** `native`, `webgpu`, `reference`, … */
  readonly name: string;
  /** What this is, for people: `CPU, AVX-512, 2 threads`. */
  readonly description: string;

  /** Uninitialised device memory. */
  alloc(sizeBytes: number): DeviceBuffer;
  /** Returns memory; using the handle afterwards is an error. */
  free(buffer: DeviceBuffer): void;
  /** Copies host bytes to the device, in queue order. */
  write(view: BufferView, data: ArrayBufferView): void;
  /** Waits for all work queued before it, then copies to a fresh host array of the view's dtype. */
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
  /** Queues a launch. Work runs in the order of the calls. */
  dispatch(launch: Launch): void;
  /** Resolves when everything queued so far has run; rejects with what went wrong. */
  synchronize(): Promise<void>;
  /** Bytes now allocated, for leak tests and reports. */
  allocatedBytes(): number;
  /** Bytes of workspace that the latest launch to end took beside its operands, where known. */
  workspaceBytes?(): number;
  dispose(): void;
}
