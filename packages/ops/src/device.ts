/** A device is a backend with its door guarded: shapes are checked, dims inferred, fallbacks visible. */
import type { DType, EventSink, Shape } from '@saccade/core';
import type { Backend, BufferView } from './backend.ts';
import type { Op, Scalars } from './op.ts';

/** An array on the device: a contiguous view and its shape. */
export interface DeviceArray {
  readonly view: BufferView;
  readonly shape: Shape;
}

export type DeviceArrays = Readonly<Record<string, DeviceArray | undefined>>;

export interface DeviceOptions {
  /** Throw instead of falling back when the backend lacks a kernel. Default true. */
  readonly strict?: boolean;
  /** Runs what the backend cannot; its use is a `fallback` event. Ignored in strict mode. */
  readonly fallback?: Backend;
  readonly onEvent?: EventSink;
}

export interface Device {
  readonly backend: Backend;
  /** Uninitialised array. */
  alloc(dtype: DType, shape: Shape): DeviceArray;
  free(array: DeviceArray): void;
  /** Allocates and uploads. Float data given as another float type is converted to `dtype`. */
  upload(dtype: DType, shape: Shape, data: ArrayLike<number>): DeviceArray;
  write(array: DeviceArray, data: ArrayLike<number>): void;
  /** Float types come back as Float32Array (f64 as Float64Array), i32 as Int32Array. */
  read(array: DeviceArray): Promise<Float32Array | Float64Array | Int32Array>;
  /**
   * Runs an op's forward. Outputs are allocated here, except those `inPlaceOf` an input, which
   * are that input's array.
   *
   * @throws ShapeError, DtypeError, UnsupportedError before any work
   */
  forward(op: Op, inputs: DeviceArrays, scalars?: Scalars): Record<string, DeviceArray>;
  /**
   * Runs an op's backward and gives fresh arrays for the gradients of `wanted` (default: all
   * differentiable inputs present). A missing output gradient counts as zero.
   */
  backward(
    op: Op,
    gradOutputs: DeviceArrays,
    inputs: DeviceArrays,
    outputs: DeviceArrays,
    scalars?: Scalars,
    wanted?: readonly string[],
  ): Record<string, DeviceArray>;
  synchronize(): Promise<void>;
  allocatedBytes(): number;
  dispose(): void;
}

export declare function openDevice(backend: Backend, options?: DeviceOptions): Device;
