/** The GPUBuffers of a device: made, counted, and destroyed once no recorded work needs them. */
import { StateError } from '@saccade/core';
import type { Allocation, MemorySource } from '@saccade/ops/backend';
import type { DeviceFaults } from './device-faults.ts';
import { BufferUsage } from './gpu-constants.ts';

export interface GpuMemory extends Allocation {
  /** Never reused, so that bind groups can be cached by it. */
  readonly id: number;
  readonly buffer: GPUBuffer;
}

const USAGES: Readonly<Record<'storage' | 'readback', number>> = {
  storage: BufferUsage.storage | BufferUsage.copySource | BufferUsage.copyTarget,
  readback: BufferUsage.mapRead | BufferUsage.copyTarget,
};

export class GpuBuffers implements MemorySource<GpuMemory> {
  readonly #device: GPUDevice;
  readonly #faults: DeviceFaults;
  readonly #usage: number;
  readonly #beforeRelease: (memory: GpuMemory) => void;
  readonly #held = new Set<GpuMemory>();
  /** Memory that the device failed to allocate. */
  readonly #absent = new WeakSet<GpuMemory>();
  #heldBytes = 0;
  #nextId = 0;

  /** @param beforeRelease  submits the recorded work that uses the memory */
  constructor(
    device: GPUDevice,
    faults: DeviceFaults,
    kind: 'storage' | 'readback',
    beforeRelease: (memory: GpuMemory) => void = () => {},
  ) {
    this.#device = device;
    this.#faults = faults;
    this.#usage = USAGES[kind];
    this.#beforeRelease = beforeRelease;
  }

  allocate(wantedBytes: number): GpuMemory {
    const sizeBytes = Math.min(wantedBytes, largestBuffer(this.#device));
    const descriptor = { size: sizeBytes, usage: this.#usage };
    const heldBytes = this.#heldBytes;
    const buffer = this.#faults.watch(
      'out-of-memory',
      () => this.#device.createBuffer(descriptor),
      (message) => {
        this.#absent.add(memory);
        return new StateError(
          `The WebGPU device has no memory for ${sizeBytes} bytes more; ${heldBytes} bytes are ` +
            `held (${message}). Free arrays, or compute in smaller batches.`,
        );
      },
    );
    const memory: GpuMemory = { id: this.#nextId++, sizeBytes, buffer };
    this.#held.add(memory);
    this.#heldBytes += sizeBytes;
    return memory;
  }

  isUsable(memory: GpuMemory): boolean {
    return !this.#absent.has(memory);
  }

  release(memory: GpuMemory): void {
    this.#beforeRelease(memory);
    this.#held.delete(memory);
    this.#heldBytes -= memory.sizeBytes;
    memory.buffer.destroy();
  }

  dispose(): void {
    for (const { buffer } of this.#held) buffer.destroy();
    this.#held.clear();
  }
}

/** The most bytes of a buffer, in whole vectors. */
export function largestBuffer({ limits }: GPUDevice): number {
  return limits.maxBufferSize - (limits.maxBufferSize % 16);
}
