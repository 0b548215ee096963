/** Aligned host memory with free lists, and handles that notice when they are used too late. */
import { bytesOf, ShapeError, StateError } from '@saccade/core';
import type { BufferView, DeviceBuffer } from '@saccade/ops';
import { type Allocation, FreeLists, sizeClass } from './free-lists.ts';

/** Where memory comes from and goes back to: the addon's `Runtime`. */
export interface MemorySource {
  /** The id of memory of this size. */
  allocate(sizeBytes: number): number;
  release(id: number): void;
}

/** All memory held, as a multiple of the most that was in use at once. */
const MOST_HELD = 1.25;

/** Memory freed by its owner is kept for the next allocation of about its size. */
export class HostMemory {
  readonly #source: MemorySource;
  readonly #free = new FreeLists();
  #liveBytes = 0;
  /** Memory behind the live buffers, size classes counted in full, now and at most. */
  #usedBytes = 0;
  #peakBytes = 0;

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
    const kept = this.#free.take(sizeBytes);
    const size = kept?.sizeBytes ?? sizeClass(sizeBytes);
    this.#liveBytes += sizeBytes;
    this.#usedBytes += size;
    this.#peakBytes = Math.max(this.#peakBytes, this.#usedBytes);
    if (kept === undefined) this.#trim();
    const allocation = kept ?? { id: this.#source.allocate(size), sizeBytes: size };
    return new HostBuffer(this, sizeBytes, allocation);
  }

  /** Takes the memory of a buffer back; the buffer must be its own and alive. */
  free(buffer: HostBuffer): void {
    const allocation = buffer.giveUp(this);
    this.#liveBytes -= buffer.sizeBytes;
    this.#usedBytes -= allocation.sizeBytes;
    this.#free.put(allocation);
    this.#trim();
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

  /**
   * Keeps what is held in bounds. What goes is what the work of the moment does not use: sampling
   * and training take turns and ask for other sizes, so the latest freed is not the one to go.
   */
  #trim(): void {
    while (this.#usedBytes + this.#free.sizeBytes > MOST_HELD * this.#peakBytes) {
      const unused = this.#free.evict();
      if (unused === undefined) return;
      this.#source.release(unused.id);
    }
  }

  dispose(): void {
    this.#free.clear();
    this.#liveBytes = 0;
    this.#usedBytes = 0;
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
