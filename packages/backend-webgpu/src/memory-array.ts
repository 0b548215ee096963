/** An array of a launch as kernels see it: contiguous elements of a buffer. */
import { ShapeError } from '@saccade/core';
import type { GpuArray, Storage } from '@saccade/webgpu-kernels';
import { BINDING_ALIGNMENT } from './gpu-constants.ts';
import type { GpuMemory } from './gpu-memory.ts';

export class MemoryArray implements GpuArray {
  readonly memory: GpuMemory;
  readonly storage: Storage;
  readonly length: number;
  /** Index of the first element, counted from the start of the memory. */
  readonly first: number;
  /** The operand it belongs to, for messages; absent for scratch memory. */
  readonly label: string | undefined;

  constructor(memory: GpuMemory, storage: Storage, first: number, length: number, label?: string) {
    this.memory = memory;
    this.storage = storage;
    this.first = first;
    this.length = length;
    this.label = label;
  }

  get elementBytes(): 2 | 4 {
    return this.storage === 'f16' ? 2 : 4;
  }

  get isAligned(): boolean {
    return this.first % 4 === 0;
  }

  get startBytes(): number {
    return this.first * this.elementBytes;
  }

  get endBytes(): number {
    return (this.first + this.length) * this.elementBytes;
  }

  slice(start: number, end: number): GpuArray {
    if (start < 0 || start > end || end > this.length) {
      throw new ShapeError(
        `Elements ${start} to ${end} are not in an array of ${this.length}. ` +
          'Slice within the array.',
      );
    }
    return new MemoryArray(this.memory, this.storage, this.first + start, end - start, this.label);
  }
}

/** The binding of an array: a range of the buffer's bytes, and where in it the array begins. */
export interface Binding {
  readonly memory: GpuMemory;
  readonly offset: number;
  readonly size: number;
  /** Index of the first element from `offset` on. */
  readonly first: number;
}

/**
 * The binding of an array. The whole buffer is bound if the device allows it, so that arrays
 * in it share bind groups.
 *
 * @param limit  bytes that may be bound at once
 */
export function bindingOf(array: MemoryArray, limit: number): Binding {
  const { memory, first, elementBytes } = array;
  if (memory.sizeBytes <= limit) return { memory, offset: 0, size: memory.sizeBytes, first };
  const start = array.startBytes - (array.startBytes % BINDING_ALIGNMENT);
  // An empty array may begin where the memory ends.
  const offset = start < memory.sizeBytes ? start : 0;
  const end = Math.min(memory.sizeBytes, Math.ceil(array.endBytes / 16) * 16);
  const size = Math.max(16, end - offset);
  return { memory, offset, size, first: first - offset / elementBytes };
}
