/** Aligned host memory with free lists, and handles that notice when they are used too late. */
import { bytesOf, type DType, ShapeError, StateError, type TypedArray } from '@saccade/core';
import type { BufferView, DeviceBuffer } from '@saccade/ops';

/** Memory freed by its owner is kept for the next allocation of its size class. */
export class HostMemory {
  readonly #allocate: (sizeBytes: number) => Uint8Array;
  readonly #free = new Map<number, Uint8Array[]>();
  #liveBytes = 0;
  #peakBytes = 0;
  #keptBytes = 0;

  /** @param allocate  gives memory aligned for the kernels */
  constructor(allocate: (sizeBytes: number) => Uint8Array) {
    this.#allocate = allocate;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  alloc(sizeBytes: number): HostBuffer {
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
      throw new ShapeError(`A buffer cannot have ${sizeBytes} bytes. Pass a size of 0 or more.`);
    }
    const size = sizeClass(sizeBytes);
    const kept = this.#free.get(size)?.pop();
    if (kept !== undefined) this.#keptBytes -= size;
    const memory = kept ?? this.#allocate(size);
    this.#liveBytes += sizeBytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#liveBytes);
    return new HostBuffer(this, sizeBytes, memory);
  }

  /** Takes the memory of a buffer back; the buffer must be its own and alive. */
  free(buffer: HostBuffer): void {
    const memory = buffer.release(this);
    this.#liveBytes -= buffer.sizeBytes;
    const size = memory.byteLength;
    // Keeping more than was ever in use at once would only hold memory others may need.
    if (this.#keptBytes + size > this.#peakBytes) return;
    this.#keptBytes += size;
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [memory]);
    else list.push(memory);
  }

  dispose(): void {
    this.#free.clear();
    this.#keptBytes = 0;
    this.#liveBytes = 0;
  }
}

/** A handle: valid from `alloc` to `free`. */
export class HostBuffer implements DeviceBuffer {
  readonly sizeBytes: number;
  readonly #owner: HostMemory;
  #memory: Uint8Array | undefined;

  constructor(owner: HostMemory, sizeBytes: number, memory: Uint8Array) {
    this.#owner = owner;
    this.sizeBytes = sizeBytes;
    this.#memory = memory;
  }

  /** At least `sizeBytes` bytes. */
  memory(owner: HostMemory): Uint8Array {
    if (this.#owner !== owner) {
      throw new StateError(
        'This buffer belongs to another backend. Read it there and upload it here.',
      );
    }
    if (this.#memory === undefined) {
      throw new StateError(
        `This buffer of ${this.sizeBytes} bytes has been freed. Free an array after its last use.`,
      );
    }
    return this.#memory;
  }

  release(owner: HostMemory): Uint8Array {
    const memory = this.memory(owner);
    this.#memory = undefined;
    return memory;
  }
}

/** The bytes of a view: its memory, offset and length, checked against the buffer's size. */
export function bytesOfView(
  owner: HostMemory,
  view: BufferView,
): { readonly memory: Uint8Array; readonly offset: number; readonly length: number } {
  const { buffer, offsetBytes, dtype } = view;
  if (!(buffer instanceof HostBuffer)) {
    throw new StateError('This buffer is not one of the native backend. Upload the array here.');
  }
  const memory = buffer.memory(owner);
  const length = view.length * bytesOf(dtype);
  if (offsetBytes < 0 || !(offsetBytes + length <= buffer.sizeBytes)) {
    throw new ShapeError(
      `A view of bytes ${offsetBytes} to ${offsetBytes + length} does not fit a buffer of ` +
        `${buffer.sizeBytes} bytes. Make the view smaller.`,
    );
  }
  return { memory, offset: offsetBytes, length };
}

/** A copy of stored bytes as the typed array of `dtype`. */
export function copyAs(dtype: DType, bytes: Uint8Array): TypedArray {
  const copy = bytes.slice().buffer;
  switch (dtype) {
    case 'f64':
      return new Float64Array(copy);
    case 'f32':
      return new Float32Array(copy);
    case 'i32':
      return new Int32Array(copy);
    case 'f16':
    case 'bf16':
      return new Uint16Array(copy);
  }
}

/** The next of 4, 5, 6, 7 times a power of two, from 64 up: at most a quarter is wasted. */
function sizeClass(sizeBytes: number): number {
  if (sizeBytes <= 64) return 64;
  const step = 2 ** Math.max(4, Math.ceil(Math.log2(sizeBytes)) - 3);
  return Math.ceil(sizeBytes / step) * step;
}
