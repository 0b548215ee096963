/** A backend that computes nothing and holds nothing: it counts what a program would allocate. */
import { allocate } from '@saccade/core';
import type { Backend, BufferView, DeviceBuffer, Direction, MemoryUse } from './backend.ts';
import type { Op } from './op.ts';
import { PooledMemory } from './pooled-memory.ts';

/**
 * Opens a backend for forecasts of memory. A program runs on it as on a device, with the same
 * allocations in the same order, in no time and no memory: every launch does nothing, and every
 * read gives zeros. Workspaces of kernels are not counted.
 */
export function dryBackend(): DryBackend {
  return new DryBackend();
}

/** A backend that counts memory; see `dryBackend`. */
export class DryBackend implements Backend {
  readonly name = 'dry';
  readonly description = 'counts memory, computes nothing';
  readonly #memory: PooledMemory<{ readonly sizeBytes: number }>;
  #heldBytes = 0;
  #peakBytes = 0;
  #peakHeldBytes = 0;

  constructor() {
    this.#memory = new PooledMemory(this.name, {
      allocate: (sizeBytes) => {
        this.#heldBytes += sizeBytes;
        this.#peakHeldBytes = Math.max(this.#peakHeldBytes, this.#heldBytes);
        return { sizeBytes };
      },
      release: ({ sizeBytes }) => {
        this.#heldBytes -= sizeBytes;
      },
    });
  }

  /** Most bytes allocated at a time since `resetPeak`. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** Most bytes that the pool had from the system, ever: what a process grows by. */
  get peakHeldBytes(): number {
    return this.#peakHeldBytes;
  }

  /** Lets `peakBytes` begin anew. */
  resetPeak(): void {
    this.#peakBytes = this.#memory.liveBytes;
  }

  alloc(sizeBytes: number): DeviceBuffer {
    const buffer = this.#memory.alloc(sizeBytes);
    this.#peakBytes = Math.max(this.#peakBytes, this.#memory.liveBytes);
    return buffer;
  }

  free(buffer: DeviceBuffer): void {
    this.#memory.free(buffer);
  }

  write(view: BufferView): void {
    this.#memory.locate(view);
  }

  clear(view: BufferView): void {
    this.#memory.locate(view);
  }

  async read(view: BufferView): Promise<ArrayBufferView> {
    this.#memory.locate(view);
    return allocate(view.dtype, view.length);
  }

  supports(op: Op, direction: Direction): true | string {
    if (direction === 'forward' || op.backward !== undefined) return true;
    return `${op.id} has no backward.`;
  }

  dispatch(): void {}

  async synchronize(): Promise<void> {}

  allocatedBytes(): number {
    return this.#memory.liveBytes;
  }

  memoryUse(): MemoryUse {
    return this.#memory.use;
  }

  dispose(): void {
    this.#memory.dispose();
  }
}
