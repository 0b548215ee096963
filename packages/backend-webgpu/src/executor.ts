/** Turns a kernel's passes into recorded dispatches. */
import { StateError, UnsupportedError } from '@saccade/core';
import type { PooledMemory } from '@saccade/ops/backend';
import type { KernelLimits, Pass } from '@saccade/webgpu-kernels';
import type { Failures } from './failures.ts';
import type { GpuMemory } from './gpu-memory.ts';
import { type Binding, bindingOf, MemoryArray } from './memory-array.ts';
import type { CompiledShader, Pipelines } from './pipelines.ts';
import type { Recorder } from './recorder.ts';
import type { DeclaredArray } from './shader-text.ts';

export interface ExecutorParts {
  readonly memory: PooledMemory<GpuMemory>;
  readonly pipelines: Pipelines;
  readonly recorder: Recorder;
  readonly failures: Failures;
  readonly limits: KernelLimits;
}

/** A copy that replaces an array during one dispatch. */
interface StandIn {
  readonly original: MemoryArray;
  readonly copy: MemoryArray;
  readonly isWritten: boolean;
}

export class Executor {
  readonly #parts: ExecutorParts;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  /**
   * Records the passes of one launch. All are compiled and checked before the first is recorded.
   *
   * @param op  the op's id, for messages
   * @throws UnsupportedError  if a pass needs more than the device allows
   * @throws StateError        if a pass lacks what its shader declares: a fault of the kernel
   */
  run(op: string, passes: readonly Pass[], storage: 'f32' | 'f16'): void {
    const ready = passes
      .filter(({ workgroups }) => !workgroups.includes(0))
      .map((pass) => {
        const shader = this.#compile(op, pass, storage);
        const arrays = shader.arrays.map((declared) => this.#array(op, pass, declared));
        this.#checkNumbers(op, pass);
        this.#checkWorkgroups(op, pass);
        return { pass, shader, arrays };
      });
    for (const { pass, shader, arrays } of ready) this.#dispatch(op, pass, shader, arrays);
  }

  #compile(op: string, { shader }: Pass, storage: 'f32' | 'f16'): CompiledShader {
    try {
      return this.#parts.pipelines.compile(shader, storage);
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      throw new UnsupportedError(`${op}: ${error.message}`);
    }
  }

  #array(op: string, { shader, arrays }: Pass, declared: DeclaredArray): MemoryArray {
    const { name, stored, width } = declared;
    const array = arrays[name];
    const where = `${op}: array ${name} of the shader "${shader.name}"`;
    if (!(array instanceof MemoryArray)) {
      throw new StateError(`${where} is not given. Bind all arrays that the shader declares.`);
    }
    // Words may be viewed as another type, for example to write the bits of an infinity.
    const isWord = stored === 'u32' || stored === 'i32';
    if (isWord ? array.storage === 'f16' : array.storage !== stored) {
      throw new StateError(`${where} is ${array.storage}, declared ${stored}. Make them equal.`);
    }
    if (width === 4 && !array.isAligned) {
      throw new StateError(`${where} is not aligned for vec4. Choose a variant by isAligned.`);
    }
    const { bindingBytes, arraysPerPass } = this.#parts.limits;
    const sizeBytes = array.length * array.elementBytes;
    if (sizeBytes > bindingBytes) {
      throw new UnsupportedError(
        `${where}${array.label === undefined ? '' : `, ${array.label},`} has ${sizeBytes} bytes; ` +
          `this device binds at most ${bindingBytes} at once (maxStorageBufferBindingSize), in at ` +
          `most ${arraysPerPass} arrays (maxStorageBuffersPerShaderStage). Use smaller arrays or ` +
          'another backend.',
      );
    }
    return array;
  }

  #checkNumbers(op: string, { shader, numbers }: Pass): void {
    for (const name in shader.numbers) {
      if (numbers[name] !== undefined) continue;
      throw new StateError(
        `${op}: the number ${name} of the shader "${shader.name}" is not given. ` +
          'Give all numbers that the shader declares.',
      );
    }
  }

  #checkWorkgroups(op: string, { shader, workgroups }: Pass): void {
    const most = this.#parts.limits.workgroupsPerAxis;
    const isRunnable = (count: number) => Number.isInteger(count) && count > 0 && count <= most;
    if (workgroups.every(isRunnable)) return;
    throw new UnsupportedError(
      `${op}: the shader "${shader.name}" needs ${workgroups.join(' × ')} workgroups; this ` +
        `device runs at most ${most} along an axis. Use smaller arrays or another backend.`,
    );
  }

  #dispatch(
    op: string,
    { shader: { failures: sentences, name }, numbers, workgroups }: Pass,
    shader: CompiledShader,
    arrays: readonly MemoryArray[],
  ): void {
    const { pipelines, recorder, failures, limits } = this.#parts;
    const standIns = this.#standIns(op, shader, arrays);
    const bindings: Binding[] = [];
    for (const array of arrays) {
      const copy = standIns?.find(({ original }) => original === array)?.copy;
      bindings.push(bindingOf(copy ?? array, limits.bindingBytes));
    }
    const values: number[] = [];
    for (const [number] of shader.numbers) values.push(numbers[number] ?? 0);
    let at = values.length - arrays.length - (sentences === undefined ? 0 : 1);
    for (const [position, { width }] of shader.arrays.entries()) {
      values[at++] = (bindings[position]?.first ?? 0) / width;
    }
    if (sentences !== undefined) {
      values[at] = failures.add(op, sentences, numbers);
      const { record } = failures;
      bindings.push({ memory: record, offset: 0, size: record.sizeBytes, first: 0 });
    }
    const group = pipelines.group(shader, recorder.uniforms, bindings);
    recorder.dispatch(shader, group, values, workgroups, bindings, `${op} (${name})`);
    if (standIns !== undefined) this.#giveBack(standIns);
  }

  /**
   * A buffer that a dispatch writes may be bound only once. Other arrays in it are copied before
   * the dispatch and, if they are written, copied back after it.
   */
  #standIns(
    op: string,
    shader: CompiledShader,
    arrays: readonly MemoryArray[],
  ): readonly StandIn[] | undefined {
    const isWritten = (position: number): boolean => shader.arrays[position]?.isWritten === true;
    const written = arrays.filter((_, position) => isWritten(position));
    let standIns: StandIn[] | undefined;
    for (const [position, array] of arrays.entries()) {
      const owner = written.find(({ memory }) => memory === array.memory);
      if (owner === undefined || owner === array) continue;
      standIns ??= [];
      standIns.push(this.#standIn(op, array, isWritten(position)));
    }
    return standIns;
  }

  #standIn(op: string, original: MemoryArray, isWritten: boolean): StandIn {
    const { memory, recorder } = this.#parts;
    if (isWritten && (original.startBytes % 4 !== 0 || original.endBytes % 4 !== 0)) {
      throw new UnsupportedError(
        `${op}: two results share a buffer, and one of them begins or ends between 4-byte words. ` +
          'Give each result a buffer of its own.',
      );
    }
    const start = original.startBytes - (original.startBytes % 16);
    const sizeBytes = Math.ceil((original.endBytes - start) / 4) * 4;
    const taken = memory.take(Math.max(16, sizeBytes));
    if (sizeBytes > 0) {
      recorder.copy(original.memory.buffer, start, taken.buffer, 0, sizeBytes);
      recorder.use(original.memory);
      recorder.use(taken);
    }
    const first = (original.startBytes - start) / original.elementBytes;
    const copy = new MemoryArray(taken, original.storage, first, original.length);
    return { original, copy, isWritten };
  }

  #giveBack(standIns: readonly StandIn[]): void {
    const { memory, recorder } = this.#parts;
    for (const { original, copy, isWritten } of standIns) {
      const sizeBytes = original.endBytes - original.startBytes;
      if (isWritten && sizeBytes > 0) {
        const { buffer } = original.memory;
        recorder.copy(copy.memory.buffer, copy.startBytes, buffer, original.startBytes, sizeBytes);
        recorder.use(original.memory);
        recorder.use(copy.memory);
      }
      memory.give(copy.memory);
    }
  }
}
