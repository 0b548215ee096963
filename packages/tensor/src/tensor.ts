/** Tensors: handles to device memory with an element type and a shape. */
import {
  bytesOf,
  type DType,
  formatShape,
  type Shape,
  ShapeError,
  StateError,
  sizeOf,
  type TypedArray,
} from '@saccade/core';
import type { Device, DeviceArray } from '@saccade/ops';

/** One allocation of device memory, shared by all views of it. */
export interface Storage {
  readonly device: Device;
  readonly array: DeviceArray;
  isFreed: boolean;
}

/**
 * A handle to a contiguous piece of device memory, with an element type and a shape. The handle
 * never changes; the elements change only through `write` and in-place ops. `reshape` and `rows`
 * share memory, and gradients flow back through both. `tensor` and the ops make tensors.
 */
export class Tensor {
  readonly storage: Storage;
  readonly shape: Shape;
  /** First element, counted from the start of the storage. */
  readonly offset: number;
  /** Element type of the storage. */
  readonly dtype: DType;
  #array: DeviceArray | undefined;

  constructor(storage: Storage, shape: Shape, offset = 0) {
    this.storage = storage;
    this.shape = shape;
    this.offset = offset;
    this.dtype = storage.array.view.dtype;
  }

  get device(): Device {
    return this.storage.device;
  }

  /** Number of elements. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /** True if this handle covers its whole storage, whatever its shape. */
  get isWhole(): boolean {
    return this.offset === 0 && this.size === sizeOf(this.storage.array.shape);
  }

  /**
   * The view and shape that a device's calls take. @throws StateError after the memory was freed
   */
  get array(): DeviceArray {
    if (this.storage.isFreed) {
      throw new StateError(
        `A tensor of shape ${formatShape(this.shape)} was used after its memory was freed. ` +
          'Return it from the scope that made it.',
      );
    }
    this.#array ??= this.#locate();
    return this.#array;
  }

  #locate(): DeviceArray {
    const { array } = this.storage;
    if (this.shape === array.shape && this.offset === 0) return array;
    const { buffer, dtype, offsetBytes } = array.view;
    const start = offsetBytes + this.offset * bytesOf(dtype);
    return {
      view: { buffer, offsetBytes: start, dtype, length: this.size },
      shape: this.shape,
    };
  }

  /**
   * The same elements in another shape; shares memory. One length may be −1 and is inferred.
   *
   * @throws ShapeError  if the sizes differ
   */
  reshape(shape: Shape): Tensor {
    const known = sizeOf(shape.filter((length) => length !== -1));
    const unknowns = shape.filter((length) => length === -1).length;
    const isResolvable = unknowns === 0 || (unknowns === 1 && known > 0);
    const resolved = shape.map((length) => (length === -1 ? this.size / known : length));
    const isFitting =
      resolved.every((n) => Number.isInteger(n) && n >= 0) && sizeOf(resolved) === this.size;
    if (!isResolvable || !isFitting) {
      throw new ShapeError(
        `Cannot reshape ${formatShape(this.shape)} to ${formatShape(shape)}: the ${this.size} ` +
          'elements do not fit. Pass a shape of the same size with at most one −1.',
      );
    }
    return new Tensor(this.storage, resolved, this.offset);
  }

  /**
   * Rows [start, end) of the outermost axis; shares memory, and gradients flow into the rows.
   *
   * @throws ShapeError  if the range is not inside the axis
   */
  rows(start: number, end: number): Tensor {
    const [count = 0, ...rest] = this.shape;
    if (!(start >= 0 && start <= end && end <= count)) {
      throw new ShapeError(
        `Rows ${start} to ${end} are not inside ${formatShape(this.shape)}. Pass a range within it.`,
      );
    }
    return new Tensor(this.storage, [end - start, ...rest], this.offset + start * sizeOf(rest));
  }

  /** Waits for queued work and copies the elements to the host. */
  read(): Promise<Float32Array | Float64Array | Int32Array> {
    return this.device.read(this.array);
  }

  /** Like `read`, as the dtype stores the elements: 16-bit floats as their patterns. */
  readStored(): Promise<TypedArray> {
    return this.device.readStored(this.array);
  }

  /** Overwrites the elements, in queue order. The tape does not see it. */
  write(data: ArrayLike<number>): void {
    this.device.write(this.array, data);
  }

  /** Like `write`, with elements as the dtype stores them: 16-bit floats as their patterns. */
  writeStored(stored: TypedArray): void {
    this.device.writeStored(this.array, stored);
  }

  /** Frees the memory, also for every view of it. Idempotent. */
  dispose(): void {
    if (this.storage.isFreed) return;
    this.storage.isFreed = true;
    this.device.free(this.storage.array);
  }
}
