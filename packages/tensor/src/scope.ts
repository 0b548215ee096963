/** Who frees what: tensors made inside a scope die with it, except those it returns or keeps. */
import type { DType, Shape } from '@saccade/core';
import { StateError } from '@saccade/core';
import type { Device, DeviceArray } from '@saccade/ops';
import { type Storage, Tensor } from './tensor.ts';

let current: Scope | undefined;

export class Scope {
  readonly #owned = new Set<Storage>();

  /** Runs synchronous work whose allocations belong to this scope. May be called several times. */
  run<T>(work: () => T): T {
    const outer = current;
    current = this;
    try {
      const result = work();
      if (result instanceof Promise) {
        throw new StateError(
          'The work of a scope returned a promise. Keep the scope open around the await and call ' +
            'run() for each synchronous part.',
        );
      }
      return result;
    } finally {
      current = outer;
    }
  }

  own(storage: Storage): void {
    this.#owned.add(storage);
  }

  /** Hands a tensor's memory to the enclosing scope, or to the caller if there is none. */
  keep<T extends Tensor>(tensor: T): T {
    if (this.#owned.delete(tensor.storage)) current?.own(tensor.storage);
    return tensor;
  }

  /** Frees one storage early; a storage of another scope is left alone. */
  release(storage: Storage): void {
    if (!this.#owned.delete(storage) || storage.isFreed) return;
    storage.isFreed = true;
    storage.device.free(storage.array);
  }

  dispose(): void {
    for (const storage of this.#owned) {
      if (storage.isFreed) continue;
      storage.isFreed = true;
      storage.device.free(storage.array);
    }
    this.#owned.clear();
  }
}

/**
 * Runs `work` and frees every tensor it made, except those in its result (a tensor, or an array or
 * record of them), which pass to the enclosing scope.
 */
export function scope<T>(work: () => T): T {
  const inner = new Scope();
  try {
    const result = inner.run(work);
    for (const tensor of tensorsIn(result)) inner.keep(tensor);
    return result;
  } finally {
    inner.dispose();
  }
}

function* tensorsIn(value: unknown): Generator<Tensor> {
  if (value instanceof Tensor) yield value;
  else if (Array.isArray(value)) for (const item of value) yield* tensorsIn(item);
  else if (value !== null && typeof value === 'object') {
    for (const item of Object.values(value)) yield* tensorsIn(item);
  }
}

/** A handle for memory just allocated; the running scope, if any, owns it. */
export function adopt(device: Device, array: DeviceArray): Tensor {
  const storage: Storage = { device, array, isFreed: false };
  current?.own(storage);
  return new Tensor(storage, array.shape);
}

/** Uploads host data. */
export function tensor(
  device: Device,
  dtype: DType,
  shape: Shape,
  data: ArrayLike<number>,
): Tensor {
  return adopt(device, device.upload(dtype, shape, data));
}

/** A tensor of zeros. */
export function zeros(device: Device, dtype: DType, shape: Shape): Tensor {
  const array = device.alloc(dtype, shape);
  const made = adopt(device, array);
  made.write(dtype === 'i32' ? new Int32Array(made.size) : new Float32Array(made.size));
  return made;
}
