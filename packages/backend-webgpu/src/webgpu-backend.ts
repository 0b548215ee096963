/** The WebGPU backend: kernels in WGSL on pooled buffers, recorded and submitted in batches. */
import {
  bytesOf,
  DataError,
  type DType,
  messageOf,
  ShapeError,
  StateError,
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
import { checkLength, PooledMemory, refuseDtypes, storageOf } from '@saccade/ops/backend';
import type { GpuArray, KernelCall, KernelLimits, Pass, Storage } from '@saccade/webgpu-kernels';
import { DeviceFaults } from './device-faults.ts';
import { Executor } from './executor.ts';
import { Failures } from './failures.ts';
import { type DeviceRequest, describeAdapter, requestDevice } from './find-gpu.ts';
import { GpuBuffers, type GpuMemory, largestBuffer } from './gpu-memory.ts';
import { kernelLimits, type LimitOptions } from './kernel-limits.ts';
import { type KernelBinding, type KernelOperand, KernelTable } from './kernel-table.ts';
import { MemoryArray } from './memory-array.ts';
import { Pipelines } from './pipelines.ts';
import { Readback, type Span } from './readback.ts';
import { Recorder } from './recorder.ts';
import { FAILURE_RECORD_BYTES } from './shader-text.ts';
import './web-gpu.ts';
import { poisonPasses, splitWrite } from './write-bytes.ts';

/** Options of `webgpuBackend`: which device, and limits below the device's own. */
export interface WebGpuBackendOptions extends DeviceRequest, LimitOptions {
  /** A device to use as it is. The caller owns it; `dispose` does not destroy it. */
  readonly device?: GPUDevice;
  /** Fills the kernels' workspaces with NaN before each use; for tests. */
  readonly poisonWorkspaces?: boolean;
}

/**
 * Opens the WebGPU backend.
 *
 * Launches are recorded, and run when something is read or enough of them are waiting. On one
 * device the same inputs give the same bits, whatever else is in the batch.
 *
 * @throws MissingError  if there is no WebGPU or no adapter, with the reason and the remedy
 * @throws ConfigError   if an option is not usable here
 */
export async function webgpuBackend(options: WebGpuBackendOptions = {}): Promise<Backend> {
  const { gpu, device, info } =
    options.device === undefined
      ? await requestDevice(options)
      : { gpu: options.gpu, device: options.device, info: options.device.adapterInfo };
  try {
    const backend = new WebGpuBackend(device, info, options);
    if (gpu !== undefined) entryPoints.set(backend, gpu);
    return backend;
  } catch (error) {
    if (options.device === undefined) device.destroy();
    throw error;
  }
}

/** Dawn shuts down once its entry point is collected, so every backend keeps a reference. */
const entryPoints = new WeakMap<Backend, GPU>();

class WebGpuBackend implements Backend {
  readonly name = 'webgpu';
  readonly description: string;
  readonly #device: GPUDevice;
  readonly #isOwner: boolean;
  readonly #poisons: boolean;
  readonly #limits: KernelLimits;
  readonly #faults: DeviceFaults;
  readonly #kernels = new KernelTable();
  readonly #buffers: GpuBuffers;
  readonly #memory: PooledMemory<GpuMemory>;
  readonly #recorder: Recorder;
  readonly #executor: Executor;
  readonly #readback: Readback;
  readonly #storages: readonly DType[];
  readonly #largestBuffer: number;
  #workspaceBytes = 0;
  #isDisposed = false;

  constructor(device: GPUDevice, info: GPUAdapterInfo, options: WebGpuBackendOptions) {
    this.#device = device;
    this.#isOwner = options.device === undefined;
    this.#poisons = options.poisonWorkspaces ?? false;
    this.description = `WebGPU, ${describeAdapter(info)}`;
    this.#limits = kernelLimits(device, info, options);
    this.#storages = device.features.has('shader-f16') ? ['f32', 'f16'] : ['f32'];
    this.#largestBuffer = largestBuffer(device);
    this.#faults = new DeviceFaults(device);
    const recorder = new Recorder(device, this.#faults);
    const pipelines = new Pipelines(device, this.#limits, this.#faults);
    this.#recorder = recorder;
    this.#buffers = new GpuBuffers(device, this.#faults, 'storage', (memory) => {
      if (recorder.isPending(memory)) recorder.submit();
      pipelines.forgetGroups();
    });
    this.#memory = new PooledMemory('webgpu', this.#buffers);
    // A separate buffer, initially zero; those of the pool may hold anything.
    const failures = new Failures(this.#buffers.allocate(FAILURE_RECORD_BYTES), device.queue);
    this.#executor = new Executor({
      memory: this.#memory,
      pipelines,
      recorder,
      failures,
      limits: this.#limits,
    });
    const staging = new GpuBuffers(device, this.#faults, 'readback');
    this.#readback = new Readback(staging, recorder, failures, this.#largestBuffer);
  }

  alloc(sizeBytes: number): DeviceBuffer {
    this.#expectOpen();
    this.#expectFits('A buffer', sizeBytes);
    return this.#memory.alloc(sizeBytes);
  }

  free(buffer: DeviceBuffer): void {
    this.#memory.free(buffer);
  }

  write(view: BufferView, data: ArrayBufferView): void {
    this.#expectOpen();
    const memory = this.#memory.locate(view);
    const sizeBytes = view.length * bytesOf(view.dtype);
    if (data.byteLength !== sizeBytes) {
      throw new ShapeError(
        `A write to ${view.length} ${view.dtype} elements needs ${sizeBytes} bytes, ` +
          `got ${data.byteLength}. Pass an array of the view's type and length.`,
      );
    }
    // Recorded work that uses the same memory must run first.
    if (this.#recorder.isPending(memory)) this.#recorder.submit();
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const { start, body, patches } = splitWrite(memory, view.offsetBytes, bytes);
    const { queue } = this.#device;
    if (body.length > 0) queue.writeBuffer(memory.buffer, start, body);
    this.#executor.run('write', patches, 'f32');
  }

  async read(view: BufferView): Promise<ArrayBufferView> {
    this.#expectOpen();
    const memory = this.#memory.locate(view);
    const sizeBytes = view.length * bytesOf(view.dtype);
    const start = view.offsetBytes - (view.offsetBytes % 4);
    const end = Math.ceil((view.offsetBytes + sizeBytes) / 4) * 4;
    const words = await this.#wait({ memory, start, end });
    const skipped = view.offsetBytes - start;
    const isWhole = skipped === 0 && words.byteLength === sizeBytes;
    const bytes = isWhole ? words.buffer : words.buffer.slice(skipped, skipped + sizeBytes);
    return viewBytes(view.dtype, bytes);
  }

  supports(
    op: Op,
    direction: Direction,
    dtypes: readonly (DType | undefined)[],
    _dims: Dims,
  ): true | string {
    const binding = this.#kernels.find(op, direction);
    if (typeof binding === 'string') return binding;
    return this.#refuse(binding, direction, dtypes) ?? true;
  }

  dispatch({ op, direction, operands, dims, scalars }: Launch): void {
    this.#expectOpen();
    const binding = this.#kernels.find(op, direction);
    const refusal =
      typeof binding === 'string'
        ? binding
        : this.#refuse(
            binding,
            direction,
            operands.map((view) => view?.dtype),
          );
    if (typeof binding === 'string' || refusal !== undefined) {
      throw new UnsupportedError(
        `${op.id}: the webgpu backend cannot run the ${direction}: ${refusal} ` +
          'Ask supports() first.',
      );
    }
    const slots = binding.operands[direction];
    const arrays: Record<string, GpuArray> = {};
    for (const [position, slot] of slots.entries()) {
      const view = operands[position];
      if (view !== undefined) arrays[slot.array] = this.#operand(op, slot, view, dims);
    }
    const storage = storageOf(slots, operands) === 'f16' ? 'f16' : 'f32';
    const taken: GpuMemory[] = [];
    const scratch = (type: Storage, length: number): GpuArray =>
      this.#scratch(op, type, length, taken);
    const call: KernelCall = { dims, scalars, arrays, storage, limits: this.#limits, scratch };
    try {
      const passes = passesOf(op, () => binding.kernel[direction]?.(call) ?? []);
      this.#executor.run(op.id, passes, storage);
    } finally {
      this.#workspaceBytes = 0;
      for (const memory of taken) {
        this.#workspaceBytes += memory.sizeBytes;
        this.#memory.give(memory);
      }
    }
  }

  async synchronize(): Promise<void> {
    this.#expectOpen();
    await this.#wait(undefined);
  }

  allocatedBytes(): number {
    return this.#memory.liveBytes;
  }

  memoryUse(): MemoryUse {
    const { use } = this.#memory;
    const { heldBuffers, heldBytes } = this.#readback.use;
    return {
      ...use,
      heldBuffers: use.heldBuffers + heldBuffers,
      heldBytes: use.heldBytes + heldBytes,
    };
  }

  workspaceBytes(): number {
    return this.#workspaceBytes;
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#memory.dispose();
    this.#buffers.dispose();
    this.#readback.dispose();
    this.#recorder.dispose();
    if (this.#isOwner) this.#device.destroy();
  }

  /** One sentence with what is wrong with the operands' types, or `undefined`. */
  #refuse(
    { operands }: KernelBinding,
    direction: Direction,
    dtypes: readonly (DType | undefined)[],
  ): string | undefined {
    const refusal = refuseDtypes(operands[direction], this.#storages, dtypes);
    if (refusal === undefined || this.#storages.includes('f16') || !dtypes.includes('f16')) {
      return refusal;
    }
    return `${refusal.slice(0, -1)}: this device lacks the feature shader-f16.`;
  }

  #operand(op: Op, slot: KernelOperand, view: BufferView, dims: Dims): MemoryArray {
    const memory = this.#memory.locate(view);
    checkLength(op, slot, view, dims);
    const size = bytesOf(view.dtype);
    if (view.offsetBytes % size !== 0) {
      throw new ShapeError(
        `${op.id}: ${slot.label} begins at byte ${view.offsetBytes}, expected a multiple of ` +
          `${size}. Move the view to whole elements.`,
      );
    }
    const shape = slot.axes.map((axis) => `${axis} ${dims[axis] ?? 0}`).join(', ');
    const first = view.offsetBytes / size;
    const label = `${slot.label} [${shape}]`;
    return new MemoryArray(memory, view.dtype as Storage, first, view.length, label);
  }

  #scratch(op: Op, storage: Storage, length: number, taken: GpuMemory[]): GpuArray {
    const sizeBytes = Math.max(16, length * (storage === 'f16' ? 2 : 4));
    this.#expectFits(`${op.id}: the workspace`, sizeBytes);
    const memory = this.#memory.take(sizeBytes);
    taken.push(memory);
    if (this.#poisons) {
      this.#executor.run('poison', poisonPasses(memory, this.#limits.bindingBytes), 'f32');
    }
    return new MemoryArray(memory, storage, 0, length);
  }

  async #wait(span: Span | undefined): Promise<Uint8Array<ArrayBuffer>> {
    this.#faults.beginWait();
    const outcome = await this.#readback.read(span).then(
      (bytes) => ({ bytes }),
      (error: unknown) => ({ error }),
    );
    if (this.#isDisposed) {
      throw new StateError(
        'This webgpu backend was disposed of before the work was done. Await it before dispose().',
      );
    }
    const fault = await this.#faults.endWait();
    if (fault !== undefined) throw fault;
    if ('bytes' in outcome) return outcome.bytes;
    if (outcome.error instanceof DataError) throw outcome.error;
    const loss = await this.#faults.lossSoon();
    throw (
      loss ??
      new StateError(
        `The WebGPU device returned nothing: ${messageOf(outcome.error)}. Open another backend.`,
      )
    );
  }

  #expectFits(what: string, sizeBytes: number): void {
    const most = this.#largestBuffer;
    if (!(sizeBytes > most)) return;
    throw new UnsupportedError(
      `${what} of ${sizeBytes} bytes is more than this WebGPU device allows: maxBufferSize is ` +
        `${most}. Use smaller arrays or another backend.`,
    );
  }

  #expectOpen(): void {
    if (this.#isDisposed) {
      throw new StateError('This webgpu backend has been disposed. Open another one.');
    }
    if (this.#faults.loss !== undefined) throw this.#faults.loss;
  }
}

/** The passes of a launch; a RangeError of the kernel becomes a DataError. */
function passesOf(op: Op, make: () => readonly Pass[]): readonly Pass[] {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DataError(`${op.id}: ${error.message}`, { cause: error });
  }
}
