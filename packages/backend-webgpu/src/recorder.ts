/**
 * Records dispatches and copies, and submits them in batches. The numbers of all dispatches of a
 * batch lie in one uniform buffer, which is written once, just before the batch.
 */
import { UnsupportedError } from '@saccade/core';
import type { DeviceFaults } from './device-faults.ts';
import { BufferUsage } from './gpu-constants.ts';
import type { GpuMemory } from './gpu-memory.ts';
import { type CompiledShader, SLOT_BYTES } from './pipelines.ts';

/**
 * Most dispatches of a batch: enough that a submit costs little per dispatch, few enough that the
 * device does not wait for JavaScript.
 */
const BATCH = 64;

export class Recorder {
  readonly uniforms: GPUBuffer;
  readonly #device: GPUDevice;
  readonly #faults: DeviceFaults;
  readonly #slots = new ArrayBuffer(BATCH * SLOT_BYTES);
  readonly #integers = new Int32Array(this.#slots);
  readonly #words = new Uint32Array(this.#slots);
  readonly #floats = new Float32Array(this.#slots);
  readonly #used = new Set<GpuMemory>();
  readonly #labels = new Set<string>();
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #count = 0;

  constructor(device: GPUDevice, faults: DeviceFaults) {
    this.#device = device;
    this.#faults = faults;
    this.uniforms = device.createBuffer({
      label: 'numbers',
      size: this.#slots.byteLength,
      usage: BufferUsage.uniform | BufferUsage.copyTarget,
    });
  }

  /**
   * Records one dispatch.
   *
   * @param numbers  in the order the shader takes them
   * @param used     memory that is bound
   */
  dispatch(
    shader: CompiledShader,
    group: GPUBindGroup,
    numbers: readonly number[],
    workgroups: readonly [number, number, number],
    used: readonly { readonly memory: GpuMemory }[],
    label: string,
  ): void {
    const encoder = this.#begin();
    this.#pass ??= encoder.beginComputePass();
    const slot = this.#count++;
    let at = (slot * SLOT_BYTES) / 4;
    for (let i = 0; i < numbers.length; i++, at++) {
      const kind = shader.numbers[i]?.[1];
      const value = numbers[i] ?? 0;
      if (kind === 'f32') this.#floats[at] = value;
      else if (kind === 'i32') this.#integers[at] = value;
      else this.#words[at] = value;
    }
    this.#pass.setPipeline(shader.pipeline);
    this.#pass.setBindGroup(0, group, [slot * SLOT_BYTES]);
    this.#pass.dispatchWorkgroups(workgroups[0], workgroups[1], workgroups[2]);
    for (const { memory } of used) this.#used.add(memory);
    this.#labels.add(label);
    if (this.#count === BATCH) this.submit();
  }

  copy(
    from: GPUBuffer,
    fromOffset: number,
    to: GPUBuffer,
    toOffset: number,
    sizeBytes: number,
  ): void {
    const encoder = this.#begin();
    this.#pass?.end();
    this.#pass = undefined;
    encoder.copyBufferToBuffer(from, fromOffset, to, toOffset, sizeBytes);
  }

  /** Declares that the next recorded work uses this memory, besides what `dispatch` binds. */
  use(memory: GpuMemory): void {
    this.#used.add(memory);
  }

  /** True if recorded work that is not yet submitted uses this memory. */
  isPending(memory: GpuMemory): boolean {
    return this.#used.has(memory);
  }

  submit(): void {
    const encoder = this.#encoder;
    if (encoder === undefined) return;
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder = undefined;
    const { queue } = this.#device;
    const labels = [...this.#labels].join(', ');
    this.#faults.watch(
      'validation',
      () => {
        // In queue order: the previous batch has read its numbers by the time these arrive.
        queue.writeBuffer(this.uniforms, 0, this.#slots, 0, this.#count * SLOT_BYTES);
        queue.submit([encoder.finish()]);
      },
      (message) =>
        new UnsupportedError(
          `The WebGPU device refuses a batch of ${labels || 'copies'}: ${message}. ` +
            'Report this, or use another backend.',
        ),
    );
    this.#used.clear();
    this.#labels.clear();
    this.#count = 0;
  }

  /** Drops what is recorded. */
  dispose(): void {
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder = undefined;
    this.uniforms.destroy();
  }

  #begin(): GPUCommandEncoder {
    this.#encoder ??= this.#device.createCommandEncoder();
    return this.#encoder;
  }
}
