/** The gpu.js backend: host memory, and attention and log-probs by loops that gpu.js compiles. */
import {
  bytesOf,
  DataError,
  type DType,
  messageOf,
  ShapeError,
  StateError,
  type TypedArray,
  UnsupportedError,
  viewBytes,
} from '@saccade/core';
import type {
  Backend,
  BufferView,
  DeviceBuffer,
  Dims,
  Direction,
  Launch,
  MemoryUse,
  Op,
} from '@saccade/ops';
import {
  type Allocation,
  checkLength,
  launchedOperands,
  PooledMemory,
  refuseDtypes,
  signatureOf,
} from '@saccade/ops/backend';
import type { GpuJsKernel } from './kernel.ts';
import * as catalog from './kernels/catalog.ts';
import { type GpuJsMode, loadGpuJs } from './load.ts';
import { GpuJsStages } from './stage-runner.ts';

/** Options of `gpujsBackend`. */
export interface GpuJsBackendOptions {
  /** Where gpu.js computes. `auto`, the default, takes the first mode that works here. */
  readonly mode?: GpuJsMode | 'auto';
}

const kernels: readonly GpuJsKernel[] = Object.values(catalog);

/**
 * Opens gpu.js. Launches run at once, inside `dispatch`.
 *
 * It has the forward of `attention` and of `linearLogprob` in float32, and refuses everything else,
 * so open the device with a fallback.
 *
 * @throws MissingError      if gpu.js cannot be loaded
 * @throws ConfigError       if there is no such mode
 * @throws UnsupportedError  if the mode cannot run here
 */
export async function gpujsBackend(options: GpuJsBackendOptions = {}): Promise<Backend> {
  const library = await loadGpuJs(options.mode ?? 'auto');
  return new GpuJsBackend(new GpuJsStages(library), library.description);
}

interface HostMemory extends Allocation {
  readonly bytes: ArrayBuffer;
}

class GpuJsBackend implements Backend {
  readonly name = 'gpujs';
  readonly description: string;
  readonly #memory = new PooledMemory<HostMemory>('gpujs', {
    allocate: (sizeBytes) => ({ sizeBytes, bytes: new ArrayBuffer(sizeBytes) }),
    release: () => undefined,
  });
  #stages: GpuJsStages | undefined;

  constructor(stages: GpuJsStages, description: string) {
    this.#stages = stages;
    this.description = description;
  }

  alloc(sizeBytes: number): DeviceBuffer {
    this.#open();
    return this.#memory.alloc(sizeBytes);
  }

  free(buffer: DeviceBuffer): void {
    this.#memory.free(buffer);
  }

  write(view: BufferView, data: ArrayBufferView): void {
    this.#open();
    const sizeBytes = view.length * bytesOf(view.dtype);
    if (data.byteLength !== sizeBytes) {
      throw new ShapeError(
        `A write to ${view.length} ${view.dtype} elements needs ${sizeBytes} bytes, ` +
          `got ${data.byteLength}. Pass an array of the view's type and length.`,
      );
    }
    const target = new Uint8Array(this.#memory.locate(view).bytes, view.offsetBytes, sizeBytes);
    target.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }

  async read(view: BufferView): Promise<ArrayBufferView> {
    this.#open();
    return this.#elements(view).slice();
  }

  supports(
    op: Op,
    direction: Direction,
    dtypes: readonly (DType | undefined)[],
    dims: Dims,
  ): true | string {
    const kernel = findKernel(op, direction);
    if (typeof kernel === 'string') return kernel;
    const operands = launchedOperands(op, direction);
    return refuseDtypes(operands, ['f32'], dtypes) ?? kernel.refuse(dims) ?? true;
  }

  dispatch({ op, direction, operands, dims, scalars }: Launch): void {
    const stages = this.#open();
    const dtypes = operands.map((view) => view?.dtype);
    const answer = this.supports(op, direction, dtypes, dims);
    const kernel = findKernel(op, direction);
    if (answer !== true || typeof kernel === 'string') {
      throw new UnsupportedError(
        `${op.id}: the gpujs backend cannot run the ${direction}: ${answer} Ask supports() first.`,
      );
    }
    const floats: Record<string, Float32Array> = {};
    const indices: Record<string, Int32Array> = {};
    launchedOperands(op, direction).forEach((operand, position) => {
      const { name } = operand;
      const view = operands[position];
      if (view === undefined) return;
      checkLength(op, operand, view, dims);
      const elements = this.#elements(view);
      if (elements instanceof Float32Array) floats[name] = elements;
      if (elements instanceof Int32Array) indices[name] = elements;
    });
    try {
      kernel.forward({ dims, scalars, floats, indices, stages });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new DataError(`${op.id}: ${messageOf(error)}`, { cause: error });
    }
  }

  async synchronize(): Promise<void> {
    this.#open();
  }

  allocatedBytes(): number {
    return this.#memory.liveBytes;
  }

  memoryUse(): MemoryUse {
    return this.#memory.use;
  }

  dispose(): void {
    this.#stages?.dispose();
    this.#stages = undefined;
    this.#memory.dispose();
  }

  /** The elements of a view, shared with the buffer. */
  #elements(view: BufferView): TypedArray {
    return viewBytes(view.dtype, this.#memory.locate(view).bytes, view.offsetBytes, view.length);
  }

  #open(): GpuJsStages {
    if (this.#stages === undefined) {
      throw new StateError('This gpujs backend has been disposed. Open another one.');
    }
    return this.#stages;
  }
}

/**
 * The kernel that runs an op in this direction, or one sentence with the reason why there is none.
 */
function findKernel(op: Op, direction: Direction): GpuJsKernel | string {
  const kernel = kernels.find((candidate) => candidate.op === op.id);
  const known = kernels.map((candidate) => candidate.op).join(' and ');
  if (kernel === undefined || direction === 'backward') {
    return `gpu.js has kernels for the forward of ${known} only.`;
  }
  const declared = signatureOf(op);
  if (kernel.signature === declared) return kernel;
  return `the kernel ${op.id} is for "${kernel.signature}", the op declares "${declared}".`;
}
