/** A backend that runs the oracles: float64 inside, rounded to storage, exact and slow. */
import {
  bytesOf,
  decode,
  encode,
  ShapeError,
  StateError,
  sizeOf,
  type TypedArray,
  viewBytes,
} from '@saccade/core';
import type { Backend, BufferView, DeviceBuffer, Launch } from './backend.ts';
import { shapeOf } from './infer-dims.ts';
import { checkLength, launchedOperands } from './launched-operands.ts';
import { differentiableOutputs, type Op, type Values } from './op.ts';

/** Opens the reference backend: any op, any storage type, no native code. */
export function referenceBackend(): Backend {
  return new ReferenceBackend();
}

class HostBuffer implements DeviceBuffer {
  readonly sizeBytes: number;
  bytes: ArrayBuffer | undefined;

  constructor(sizeBytes: number) {
    this.sizeBytes = sizeBytes;
    this.bytes = new ArrayBuffer(sizeBytes);
  }
}

class ReferenceBackend implements Backend {
  readonly name = 'reference';
  readonly description = 'float64 oracles in TypeScript, one thread';
  readonly isBlocking = true;
  readonly #live = new Set<HostBuffer>();
  #isDisposed = false;

  alloc(sizeBytes: number): DeviceBuffer {
    this.#expectOpen();
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
      throw new ShapeError(`A buffer cannot have ${sizeBytes} bytes. Pass a size of 0 or more.`);
    }
    const buffer = new HostBuffer(sizeBytes);
    this.#live.add(buffer);
    return buffer;
  }

  free(buffer: DeviceBuffer): void {
    const host = this.#expectLive(buffer);
    host.bytes = undefined;
    this.#live.delete(host);
  }

  write(view: BufferView, data: ArrayBufferView): void {
    const expected = view.length * bytesOf(view.dtype);
    if (data.byteLength !== expected) {
      throw new ShapeError(
        `A write to ${view.length} ${view.dtype} elements needs ${expected} bytes, ` +
          `got ${data.byteLength}. Pass an array of the view's type and length.`,
      );
    }
    const target = this.#stored(view);
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    );
  }

  async read(view: BufferView): Promise<ArrayBufferView> {
    return this.#stored(view).slice();
  }

  supports(op: Op, direction: 'forward' | 'backward'): true | string {
    if (direction === 'forward' || op.backward !== undefined) return true;
    return `${op.id} has no backward.`;
  }

  dispatch(launch: Launch): void {
    const { op, direction, operands, dims, scalars } = launch;
    const gradOutputs: Record<string, Values[string]> = {};
    for (const name of differentiableOutputs(op)) {
      const operand = op.outputs[name];
      gradOutputs[name] = new Float64Array(sizeOf(shapeOf(operand, dims)));
    }
    const inputs: Record<string, Values[string]> = {};
    const outputs: Record<string, Values[string]> = {};
    const results: { name: string; view: BufferView }[] = [];
    launchedOperands(op, direction).forEach((operand, position) => {
      const { role, name } = operand;
      const view = operands[position];
      if (view === undefined) return;
      checkLength(op, operand, view, dims);
      if (role === 'gradInput' || (role === 'output' && direction === 'forward')) {
        results.push({ name, view });
        return;
      }
      const into = role === 'gradOutput' ? gradOutputs : role === 'input' ? inputs : outputs;
      const stored = this.#stored(view);
      into[name] = stored instanceof Int32Array ? stored.slice() : decode(stored, view.dtype);
    });
    const values =
      direction === 'forward'
        ? op.forward(inputs, dims, scalars)
        : op.backward?.(gradOutputs, { ...inputs, ...outputs }, dims, scalars);
    for (const { name, view } of results) {
      const value = values?.[name];
      if (value === undefined || value.length !== view.length) {
        throw new ShapeError(
          `${op.id}: the oracle's ${direction} gave ${value?.length ?? 'no'} elements for ` +
            `${name}, expected ${view.length}. Correct the op's file.`,
        );
      }
      this.#stored(view).set(encode(value, view.dtype));
    }
  }

  async synchronize(): Promise<void> {
    this.#expectOpen();
  }

  allocatedBytes(): number {
    let total = 0;
    for (const buffer of this.#live) total += buffer.sizeBytes;
    return total;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const buffer of this.#live) buffer.bytes = undefined;
    this.#live.clear();
  }

  /** The elements of a view, shared with the buffer. */
  #stored(view: BufferView): TypedArray {
    const { bytes, sizeBytes } = this.#expectLive(view.buffer);
    const end = view.offsetBytes + view.length * bytesOf(view.dtype);
    if (bytes === undefined || view.offsetBytes < 0 || end > sizeBytes) {
      throw new ShapeError(
        `A view of bytes ${view.offsetBytes} to ${end} does not fit a buffer of ${sizeBytes} ` +
          'bytes. Make the view smaller.',
      );
    }
    return viewBytes(view.dtype, bytes, view.offsetBytes, view.length);
  }

  #expectOpen(): void {
    if (!this.#isDisposed) return;
    throw new StateError('This reference backend has been disposed. Open another one.');
  }

  #expectLive(buffer: DeviceBuffer): HostBuffer {
    if (!(buffer instanceof HostBuffer) || !this.#live.has(buffer)) {
      throw new StateError(
        `This buffer of ${buffer.sizeBytes} bytes was freed or belongs to another backend. ` +
          'Allocate it on this one.',
      );
    }
    return buffer;
  }
}
