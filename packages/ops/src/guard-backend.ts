/** A backend that surrounds every allocation with canaries and fills it with NaN. */
import type { DType } from '@saccade/core';
import type { Backend, BufferView, DeviceBuffer, Direction, Launch } from './backend.ts';
import { ContractError } from './contract-error.ts';
import type { Dims, Op } from './op.ts';
import { formOf } from './op-form.ts';

/** Bytes before and after each allocation: a multiple of any vector width and cache line. */
const BAND_BYTES = 256;

/** NaN in every float type and a negative index as int32, so that reading it shows as well. */
const CANARY = 0xfff5;
const POISON = 0xffff;

/**
 * A backend whose kernels are caught when they write out of bounds or read uninitialized memory.
 */
export interface GuardedBackend extends Backend {
  /** @throws ContractError naming the operand if anything wrote outside its buffer */
  checkBands(): Promise<void>;
}

class GuardedBuffer implements DeviceBuffer {
  readonly sizeBytes: number;
  readonly inner: DeviceBuffer;
  /** The operand that the buffer was last used as, for messages. */
  use = 'a buffer no kernel was given';

  constructor(sizeBytes: number, inner: DeviceBuffer) {
    this.sizeBytes = sizeBytes;
    this.inner = inner;
  }
}

/** Wraps `inner`, which it does not own: disposing the wrapper frees only what it allocated. */
export function guardBackend(inner: Backend): GuardedBackend {
  return new GuardBackend(inner);
}

class GuardBackend implements GuardedBackend {
  readonly name: string;
  readonly description: string;
  readonly #inner: Backend;
  readonly #live = new Set<GuardedBuffer>();

  constructor(inner: Backend) {
    this.#inner = inner;
    this.name = inner.name;
    this.description = `${inner.description}, guarded`;
  }

  alloc(sizeBytes: number): DeviceBuffer {
    const buffer = new GuardedBuffer(sizeBytes, this.#inner.alloc(sizeBytes + 2 * BAND_BYTES));
    for (const band of bandsOf(buffer)) {
      this.#inner.write(band, new Uint16Array(band.length).fill(CANARY));
    }
    const body = halves(buffer, BAND_BYTES, sizeBytes);
    this.#inner.write(body, new Uint16Array(body.length).fill(POISON));
    this.#live.add(buffer);
    return buffer;
  }

  free(buffer: DeviceBuffer): void {
    const guarded = buffer as GuardedBuffer;
    this.#live.delete(guarded);
    this.#inner.free(guarded.inner);
  }

  write(view: BufferView, data: ArrayBufferView): void {
    this.#inner.write(moved(view), data);
  }

  read(view: BufferView): Promise<ArrayBufferView> {
    return this.#inner.read(moved(view));
  }

  supports(
    op: Op,
    direction: Direction,
    dtypes: readonly (DType | undefined)[],
    dims: Dims,
  ): true | string {
    return this.#inner.supports(op, direction, dtypes, dims);
  }

  dispatch(launch: Launch): void {
    formOf(launch.op).order[launch.direction].forEach(({ role, name }, i) => {
      const buffer = launch.operands[i]?.buffer as GuardedBuffer | undefined;
      if (buffer !== undefined) buffer.use = `${role} ${name} of ${launch.op.id}`;
    });
    const operands = launch.operands.map((view) => (view === undefined ? undefined : moved(view)));
    this.#inner.dispatch({ ...launch, operands });
  }

  synchronize(): Promise<void> {
    return this.#inner.synchronize();
  }

  allocatedBytes(): number {
    return this.#inner.allocatedBytes();
  }

  dispose(): void {
    for (const buffer of this.#live) this.#inner.free(buffer.inner);
    this.#live.clear();
  }

  async checkBands(): Promise<void> {
    for (const buffer of this.#live) {
      for (const [side, band] of bandsOf(buffer).entries()) {
        const found = (await this.#inner.read(band)) as Uint16Array;
        const at = found.findIndex((half) => half !== CANARY);
        if (at < 0) continue;
        const distance = side === 0 ? BAND_BYTES - 2 * at : 2 * at;
        throw new ContractError(
          `Something wrote ${distance} bytes ${side === 0 ? 'before' : 'after'} ${buffer.use} ` +
            `(${buffer.sizeBytes} bytes). Check the kernel's bounds at that operand.`,
        );
      }
    }
  }
}

/** A view of a buffer's allocation in 16-bit pieces, the largest unit every size is made of. */
function halves(buffer: GuardedBuffer, offsetBytes: number, sizeBytes: number): BufferView {
  return { buffer: buffer.inner, offsetBytes, dtype: 'f16', length: sizeBytes / 2 };
}

function bandsOf(buffer: GuardedBuffer): readonly BufferView[] {
  return [0, BAND_BYTES + buffer.sizeBytes].map((offset) => halves(buffer, offset, BAND_BYTES));
}

function moved(view: BufferView): BufferView {
  const { inner } = view.buffer as GuardedBuffer;
  return { ...view, buffer: inner, offsetBytes: view.offsetBytes + BAND_BYTES };
}
