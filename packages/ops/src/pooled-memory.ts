/** Device memory with free lists, and handles that detect use after free. */
import { bytesOf, ShapeError, StateError } from '@saccade/core';
import type { BufferView, DeviceBuffer, MemoryUse } from './backend.ts';
import { type Allocation, FreeLists, sizeClass } from './free-lists.ts';

/** Where memory comes from and goes back to. */
export interface MemorySource<Memory extends Allocation> {
  /** Memory of at least this size, a size class or the size asked for. */
  allocate(sizeBytes: number): Memory;
  release(memory: Memory): void;
  /** False for memory that must not be reused. */
  isUsable?(memory: Memory): boolean;
}

/** Most memory held, as a multiple of the peak use. */
const MOST_HELD = 1.25;

/**
 * Memory freed by its owner is kept for the next allocation of about its size. That is safe without
 * waiting for the device as long as all work on it runs in the order it is queued.
 */
export class PooledMemory<Memory extends Allocation> {
  readonly #backend: string;
  readonly #source: MemorySource<Memory>;
  readonly #free = new FreeLists<Memory>();
  #liveBuffers = 0;
  #liveBytes = 0;
  /** Bytes that the source gave and did not get back. */
  #heldBuffers = 0;
  #heldBytes = 0;
  /** Memory behind live buffers now and at its peak, counted in whole size classes. */
  #usedBytes = 0;
  #peakBytes = 0;

  /** @param backend  what messages call the owner: `native` */
  constructor(backend: string, source: MemorySource<Memory>) {
    this.#backend = backend;
    this.#source = source;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  get use(): MemoryUse {
    return {
      liveBuffers: this.#liveBuffers,
      liveBytes: this.#liveBytes,
      heldBuffers: this.#heldBuffers,
      heldBytes: this.#heldBytes,
    };
  }

  alloc(sizeBytes: number): PooledBuffer<Memory> {
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
      throw new ShapeError(`A buffer cannot have ${sizeBytes} bytes. Pass a size of 0 or more.`);
    }
    const memory = this.take(sizeBytes);
    this.#liveBuffers++;
    this.#liveBytes += sizeBytes;
    return new PooledBuffer(this, sizeBytes, memory);
  }

  /** Takes the memory of a buffer back; the buffer must be its own and alive. */
  free(buffer: DeviceBuffer): void {
    const pooled = this.#own(buffer, 'Free it where it is from.');
    const memory = pooled.giveUp(this);
    this.#liveBuffers--;
    this.#liveBytes -= pooled.sizeBytes;
    this.give(memory);
  }

  /** Memory without a handle, for the time of a launch; counted as used, not as live. */
  take(sizeBytes: number): Memory {
    const kept = this.#free.take(sizeBytes);
    const size = kept?.sizeBytes ?? sizeClass(sizeBytes);
    this.#usedBytes += size;
    this.#peakBytes = Math.max(this.#peakBytes, this.#usedBytes);
    if (kept !== undefined) return kept;
    this.#trim();
    const memory = this.#allocate(size);
    this.#usedBytes += memory.sizeBytes - size;
    this.#heldBuffers++;
    this.#heldBytes += memory.sizeBytes;
    return memory;
  }

  /** The kept memory may be exactly what is lacking now. */
  #allocate(size: number): Memory {
    try {
      return this.#source.allocate(size);
    } catch (error) {
      this.#usedBytes -= size;
      if (!this.releaseFree()) throw error;
      const memory = this.#source.allocate(size);
      this.#usedBytes += size;
      return memory;
    }
  }

  /** Releases what is kept for later allocations; false if there was nothing. */
  releaseFree(): boolean {
    let isReleased = false;
    for (let kept = this.#free.evict(); kept !== undefined; kept = this.#free.evict()) {
      this.#release(kept);
      isReleased = true;
    }
    return isReleased;
  }

  /** Returns memory that `take` gave. */
  give(memory: Memory): void {
    this.#usedBytes -= memory.sizeBytes;
    if (this.#source.isUsable?.(memory) === false) {
      this.#release(memory);
      return;
    }
    this.#free.put(memory);
    this.#trim();
  }

  /** The memory of a view, checked against its buffer's size. */
  locate({ buffer, offsetBytes, dtype, length }: BufferView): Memory {
    const pooled = this.#own(buffer, 'Upload the array here.');
    const memory = pooled.memory(this);
    const end = offsetBytes + length * bytesOf(dtype);
    if (offsetBytes < 0 || !(end <= buffer.sizeBytes)) {
      throw new ShapeError(
        `A view of bytes ${offsetBytes} to ${end} does not fit a buffer of ` +
          `${buffer.sizeBytes} bytes. Make the view smaller.`,
      );
    }
    return memory;
  }

  /**
   * Keeps the held memory in bounds. It evicts sizes that the current work does not use: sampling
   * and training take turns and need different sizes, so the latest freed is not the one to evict.
   */
  #trim(): void {
    while (this.#usedBytes + this.#free.sizeBytes > MOST_HELD * this.#peakBytes) {
      const unused = this.#free.evict();
      if (unused === undefined) return;
      this.#release(unused);
    }
  }

  #release(memory: Memory): void {
    this.#heldBuffers--;
    this.#heldBytes -= memory.sizeBytes;
    this.#source.release(memory);
  }

  /** Forgets everything; disposing of the device frees its memory. */
  dispose(): void {
    this.#free.clear();
    this.#liveBuffers = 0;
    this.#liveBytes = 0;
    this.#heldBuffers = 0;
    this.#heldBytes = 0;
    this.#usedBytes = 0;
  }

  #own(buffer: DeviceBuffer, remedy: string): PooledBuffer<Memory> {
    if (buffer instanceof PooledBuffer) return buffer as PooledBuffer<Memory>;
    throw new StateError(`This buffer is not one of the ${this.#backend} backend. ${remedy}`);
  }
}

/** A handle: valid from `alloc` to `free`. */
export class PooledBuffer<Memory extends Allocation> implements DeviceBuffer {
  readonly sizeBytes: number;
  readonly #owner: PooledMemory<Memory>;
  #memory: Memory | undefined;

  constructor(owner: PooledMemory<Memory>, sizeBytes: number, memory: Memory) {
    this.#owner = owner;
    this.sizeBytes = sizeBytes;
    this.#memory = memory;
  }

  /** At least `sizeBytes` bytes. */
  memory(owner: PooledMemory<Memory>): Memory {
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

  /** The memory, which the buffer loses. */
  giveUp(owner: PooledMemory<Memory>): Memory {
    const memory = this.memory(owner);
    this.#memory = undefined;
    return memory;
  }
}
