/** Aligned host memory with free lists, and handles that notice when they are used too late. */
import { bytesOf, type DType, ShapeError, StateError, type TypedArray } from '@saccade/core';
import type { Allocation } from '@saccade/native';
import type { BufferView, DeviceBuffer } from '@saccade/ops';

/** Where memory comes from and goes back to: the addon's `Runtime`. */
export interface MemorySource {
  allocate(sizeBytes: number): Allocation;
  release(id: number): void;
}

/** Memory freed by its owner is kept for the next allocation of its size class. */
export class HostMemory {
  readonly #source: MemorySource;
  readonly #free = new Map<number, Allocation[]>();
  #liveBytes = 0;
  #peakBytes = 0;
  #keptBytes = 0;

  constructor(source: MemorySource) {
    this.#source = source;
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
    const allocation = kept ?? this.#source.allocate(size);
    this.#liveBytes += sizeBytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#liveBytes);
    return new HostBuffer(this, sizeBytes, allocation);
  }

  /** Takes the memory of a buffer back; the buffer must be its own and alive. */
  free(buffer: HostBuffer): void {
    const allocation = buffer.giveUp(this);
    this.#liveBytes -= buffer.sizeBytes;
    const size = allocation.bytes.byteLength;
    // Keeping more than was ever in use at once would only hold memory others may need.
    if (this.#keptBytes + size > this.#peakBytes) {
      this.#source.release(allocation.id);
      return;
    }
    this.#keptBytes += size;
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [allocation]);
    else list.push(allocation);
  }

  /** The memory of a view, checked against its buffer's size. */
  locate({ buffer, offsetBytes, dtype, length }: BufferView): Allocation {
    if (!(buffer instanceof HostBuffer)) {
      throw new StateError('This buffer is not one of the native backend. Upload the array here.');
    }
    const allocation = buffer.allocation(this);
    const end = offsetBytes + length * bytesOf(dtype);
    if (offsetBytes < 0 || !(end <= buffer.sizeBytes)) {
      throw new ShapeError(
        `A view of bytes ${offsetBytes} to ${end} does not fit a buffer of ` +
          `${buffer.sizeBytes} bytes. Make the view smaller.`,
      );
    }
    return allocation;
  }

  /** The bytes of a view, shared with its buffer. */
  bytes(view: BufferView): Uint8Array {
    const { bytes } = this.locate(view);
    return bytes.subarray(view.offsetBytes, view.offsetBytes + view.length * bytesOf(view.dtype));
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
  #allocation: Allocation | undefined;

  constructor(owner: HostMemory, sizeBytes: number, allocation: Allocation) {
    this.#owner = owner;
    this.sizeBytes = sizeBytes;
    this.#allocation = allocation;
  }

  /** At least `sizeBytes` bytes. */
  allocation(owner: HostMemory): Allocation {
    if (this.#owner !== owner) {
      throw new StateError(
        'This buffer belongs to another backend. Read it there and upload it here.',
      );
    }
    if (this.#allocation === undefined) {
      throw new StateError(
        `This buffer of ${this.sizeBytes} bytes has been freed. Free an array after its last use.`,
      );
    }
    return this.#allocation;
  }

  /** The memory, which the buffer loses. */
  giveUp(owner: HostMemory): Allocation {
    const allocation = this.allocation(owner);
    this.#allocation = undefined;
    return allocation;
  }
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
