/** Golden values written by `goldens/write-goldens.py` with transformers, for the tests beside. */
import { fileURLToPath } from 'node:url';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { expect } from 'vitest';
import { type NamedArray, readSafetensors } from './safetensors.ts';

export class Golden {
  readonly #arrays: ReadonlyMap<string, NamedArray>;

  constructor(arrays: ReadonlyMap<string, NamedArray>) {
    this.#arrays = arrays;
  }

  get names(): readonly string[] {
    return [...this.#arrays.keys()];
  }

  array(name: string): NamedArray {
    const array = this.#arrays.get(name);
    if (array === undefined) throw new Error(`There is no golden "${name}".`);
    return array;
  }

  floats(name: string): Float32Array {
    return this.array(name).data as Float32Array;
  }

  integers(name: string): Int32Array {
    return this.array(name).data as Int32Array;
  }

  tensor(device: Device, name: string): Tensor {
    const { dtype, shape, data } = this.array(name);
    return tensor(device, dtype, shape, data);
  }

  /** Tensors whose names begin with a prefix. */
  tensors(device: Device, prefix: string): Record<string, Tensor> {
    const names = this.names.filter((name) => name.startsWith(prefix));
    return Object.fromEntries(names.map((name) => [name, this.tensor(device, name)]));
  }
}

export async function readGolden(name: string): Promise<Golden> {
  const path = fileURLToPath(new URL(`./goldens/${name}.safetensors`, import.meta.url));
  return new Golden(await readSafetensors(path));
}

/** ‖values − expected‖ ≤ tolerance·‖expected‖ (Frobenius), every value a number. */
export function expectClose(
  what: string,
  values: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
): void {
  expect(values.length, `${what}: length`).toBe(expected.length);
  let difference = 0;
  let size = 0;
  for (let i = 0; i < expected.length; i++) {
    difference += (values[i] - expected[i]) ** 2;
    size += expected[i] ** 2;
  }
  const error = Math.sqrt(difference / size);
  // NaN fails, since no comparison with it holds.
  expect(error, `${what}: relative error`).toBeLessThanOrEqual(tolerance);
}
