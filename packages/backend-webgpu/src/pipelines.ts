/** Compiled shaders and their bind groups, each made once. */
import { UnsupportedError } from '@saccade/core';
import type { KernelLimits, Shader } from '@saccade/webgpu-kernels';
import type { DeviceFaults } from './device-faults.ts';
import { COMPUTE_STAGE } from './gpu-constants.ts';
import type { Binding } from './memory-array.ts';
import {
  type DeclaredArray,
  declaredArrays,
  ENTRY_POINT,
  shaderText,
  uniformMembers,
} from './shader-text.ts';

/** Bytes of the numbers of one dispatch: the distance of dynamic offsets. */
export const SLOT_BYTES = 256;

/** Most cached bind groups; a training step reuses some hundreds of them. */
const GROUPS_KEPT = 8192;

export interface CompiledShader {
  readonly id: number;
  readonly name: string;
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  readonly arrays: readonly DeclaredArray[];
  /**
   * Kind of every number, in order of the uniform's members, first elements and launch included.
   */
  readonly numbers: readonly (readonly [name: string, kind: 'u32' | 'i32' | 'f32'])[];
}

export class Pipelines {
  readonly #device: GPUDevice;
  readonly #limits: KernelLimits;
  readonly #faults: DeviceFaults;
  readonly #byShader = new WeakMap<Shader, Map<string, CompiledShader>>();
  readonly #byText = new Map<string, CompiledShader>();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();
  readonly #groups = new Map<string, GPUBindGroup>();

  constructor(device: GPUDevice, limits: KernelLimits, faults: DeviceFaults) {
    this.#device = device;
    this.#faults = faults;
    this.#limits = limits;
  }

  /**
   * @throws UnsupportedError  if the device lacks a feature or the shader exceeds a limit
   */
  compile(shader: Shader, storage: 'f32' | 'f16'): CompiledShader {
    let variants = this.#byShader.get(shader);
    if (variants === undefined) {
      variants = new Map();
      this.#byShader.set(shader, variants);
    }
    let compiled = variants.get(storage);
    if (compiled === undefined) {
      const text = shaderText(shader, storage);
      compiled = this.#byText.get(text);
      if (compiled === undefined) {
        compiled = this.#compile(shader, storage, text);
        this.#byText.set(text, compiled);
      }
      variants.set(storage, compiled);
    }
    return compiled;
  }

  /** The bind group of these bindings, the uniform's first. */
  group(shader: CompiledShader, uniforms: GPUBuffer, bindings: readonly Binding[]): GPUBindGroup {
    let key = `${shader.id}`;
    for (const { memory, offset, size } of bindings) {
      key += offset === 0 ? ` ${memory.id}` : ` ${memory.id}@${offset}`;
      if (size !== memory.sizeBytes) key += `+${size}`;
    }
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size >= GROUPS_KEPT) this.#groups.clear();
      const entries = [
        { binding: 0, resource: { buffer: uniforms, offset: 0, size: SLOT_BYTES } },
        ...bindings.map(({ memory, offset, size }, position) => ({
          binding: position + 1,
          resource: { buffer: memory.buffer, offset, size },
        })),
      ];
      group = this.#watch(shader.name, () =>
        this.#device.createBindGroup({ layout: shader.layout, entries }),
      );
      this.#groups.set(key, group);
    }
    return group;
  }

  /** Drops all bind groups, because some refer to memory that is being freed. */
  forgetGroups(): void {
    this.#groups.clear();
  }

  #compile(shader: Shader, storage: 'f32' | 'f16', text: string): CompiledShader {
    const arrays = declaredArrays(shader, storage);
    this.#check(shader, arrays.length);
    const { failures, name } = shader;
    const accesses = arrays.map(({ isWritten }) => isWritten);
    const layout = this.#layout(failures === undefined ? accesses : [...accesses, true]);
    const device = this.#device;
    const pipeline = this.#watch(name, () =>
      device.createComputePipeline({
        label: name,
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: {
          module: device.createShaderModule({ label: name, code: text }),
          entryPoint: ENTRY_POINT,
        },
      }),
    );
    const kinds = shader.numbers;
    const numbers = uniformMembers(shader).map(
      (member) => [member, kinds[member] ?? 'u32'] as const,
    );
    return { id: this.#byText.size, name, pipeline, layout, arrays, numbers };
  }

  #watch<Result>(name: string, calls: () => Result): Result {
    return this.#faults.watch(
      'validation',
      calls,
      (message) =>
        new UnsupportedError(
          `The WebGPU device refuses the shader "${name}": ${message}. Report this, or use ` +
            'another backend.',
        ),
    );
  }

  #check(shader: Shader, count: number): void {
    const { name, arrays, numbers, threads, subgroups, matrices, failures } = shader;
    const limits = this.#limits;
    const [x, y, z] = threads;
    const most = failures === undefined ? count : count + 1;
    const members = Object.keys(numbers).length + Object.keys(arrays).length + 1;
    const refuse = (what: string): never => {
      throw new UnsupportedError(
        `The shader "${name}" ${what}. Choose a variant by KernelCall.limits.`,
      );
    };
    if (x * y * z > limits.workgroupThreads) {
      refuse(`has ${x * y * z} threads; this device allows ${limits.workgroupThreads}`);
    }
    if (most > limits.arraysPerPass) {
      refuse(`binds ${most} arrays; this device allows ${limits.arraysPerPass}`);
    }
    if (members * 4 > SLOT_BYTES) {
      refuse(`takes ${members} numbers; there is room for ${SLOT_BYTES / 4}`);
    }
    if (subgroups === true && !limits.hasSubgroups) {
      refuse('needs the feature subgroups, which this device lacks');
    }
    if (matrices === true && limits.matrixUnit === undefined) {
      refuse('needs matrix units, which this device lacks or was opened without');
    }
  }

  #layout(accesses: readonly boolean[]): GPUBindGroupLayout {
    const key = accesses.map((isWritten) => (isWritten ? 'w' : 'r')).join('');
    let layout = this.#layouts.get(key);
    if (layout === undefined) {
      const uniform: GPUBindGroupLayoutEntry = {
        binding: 0,
        visibility: COMPUTE_STAGE,
        buffer: { type: 'uniform', hasDynamicOffset: true, minBindingSize: SLOT_BYTES },
      };
      const arrays = accesses.map(
        (isWritten, position): GPUBindGroupLayoutEntry => ({
          binding: position + 1,
          visibility: COMPUTE_STAGE,
          buffer: { type: isWritten ? 'storage' : 'read-only-storage' },
        }),
      );
      layout = this.#device.createBindGroupLayout({ entries: [uniform, ...arrays] });
      this.#layouts.set(key, layout);
    }
    return layout;
  }
}
