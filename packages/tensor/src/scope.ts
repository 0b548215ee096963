/** Ownership of tensors: a scope frees those made inside it, except those it returns or keeps. */
import { type DType, type Shape, StateError } from '@saccade/core';
import type { Device, DeviceArray } from '@saccade/ops';
import { type Storage, Tensor } from './tensor.ts';

let current: Scope | undefined;

/**
 * Owns the tensors made while it runs, across any number of `run()` calls, until `dispose()`.
 * For work in one synchronous function, use `scope()`.
 */
export class Scope {
  readonly #owned = new Set<Storage>();
  /** The scope around a `run()` under way. */
  #outer: Scope | undefined;

  /** Runs synchronous work whose allocations belong to this scope. May be called several times. */
  run<T>(work: () => T): T {
    const outer = current;
    const outerOfOuterRun = this.#outer;
    // A run inside a run of the same scope has the same scope around it.
    if (outer !== this) this.#outer = outer;
    current = this;
    try {
      const result = work();
      if (result instanceof Promise) {
        throw new StateError(
          'The work of a scope returned a promise. Use asyncScope and call run() for each ' +
            'synchronous part.',
        );
      }
      return result;
    } finally {
      current = outer;
      this.#outer = outerOfOuterRun;
    }
  }

  own(storage: Storage): void {
    this.#owned.add(storage);
  }

  /** Hands a tensor's memory to the enclosing scope, or to the caller if there is none. */
  keep<T extends Tensor>(tensor: T): T {
    const enclosing = current === this ? this.#outer : current;
    if (this.#owned.delete(tensor.storage)) enclosing?.own(tensor.storage);
    return tensor;
  }

  /** Hands all memory to the enclosing scope, or to the callers if there is none. */
  keepAll(): void {
    const enclosing = current === this ? this.#outer : current;
    for (const storage of this.#owned) enclosing?.own(storage);
    this.#owned.clear();
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

/**
 * `scope` for work that awaits: tensors made inside `inner.run()` are freed when the work ends,
 * except those in its result, which pass to the caller.
 *
 *   const logprobs = await asyncScope(async (inner) => {
 *     const x = inner.run(() => forward());
 *     await x.read();
 *     return inner.run(() => head(x));
 *   });
 */
export async function asyncScope<T>(work: (inner: Scope) => Promise<T>): Promise<T> {
  const inner = new Scope();
  try {
    const result = await work(inner);
    for (const tensor of tensorsIn(result)) inner.keep(tensor);
    return result;
  } finally {
    inner.dispose();
  }
}

/** Tensors in a value made of tensors, arrays and plain records; other objects hold none. */
export function* tensorsIn(value: unknown): Generator<Tensor> {
  if (value instanceof Tensor) yield value;
  else if (Array.isArray(value)) for (const item of value) yield* tensorsIn(item);
  else if (isRecord(value)) for (const item of Object.values(value)) yield* tensorsIn(item);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
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
  return adopt(device, device.zeros(dtype, shape));
}
