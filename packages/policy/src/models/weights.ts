/** Weights on disk: Hugging Face names, with the vision tower's q, k and v fused. */

import { DataError, formatShape, sameShape, sizeOf } from '@saccade/core';
import type { NamedArray, ParameterSpec } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { readWeights } from '#disk';

const SPLIT = /^(visual\.blocks\.\d+\.attn\.)([qkv])(\.(?:weight|bias))$/;
const FUSED = /^(visual\.blocks\.\d+\.attn\.)qkv(\.(?:weight|bias))$/;
/** Newer checkpoints nest both halves under `model.`. */
const NESTED = [
  [/^model\.visual\./, 'visual.'],
  [/^model\.language_model\./, 'model.'],
] as const;

/** Host arrays with q, k and v of the vision tower joined as `attn.qkv`. */
export function fuse(arrays: ReadonlyMap<string, NamedArray>): Map<string, NamedArray> {
  const fused = new Map<string, NamedArray>();
  for (const [name, array] of arrays) {
    const match = SPLIT.exec(name);
    if (match === null) {
      fused.set(name, array);
      continue;
    }
    const [, block, part, suffix] = match;
    if (part !== 'q') continue;
    const parts = ['q', 'k', 'v'].map((p) => arrays.get(`${block}${p}${suffix}`) as NamedArray);
    const data = new Float32Array(parts.reduce((sum, p) => sum + p.data.length, 0));
    let offset = 0;
    for (const p of parts) {
      data.set(p.data, offset);
      offset += p.data.length;
    }
    const [rows, ...rest] = array.shape as [number, ...number[]];
    fused.set(`${block}qkv${suffix}`, { dtype: 'f32', shape: [rows * 3, ...rest], data });
  }
  return fused;
}

/** The inverse of `fuse`, with nested names flattened. */
function unfuse(arrays: ReadonlyMap<string, NamedArray>): Map<string, NamedArray> {
  const split = new Map<string, NamedArray>();
  for (const [key, array] of arrays) {
    const name = NESTED.reduce((n, [from, to]) => n.replace(from, to), key);
    const match = FUSED.exec(name);
    if (match === null) {
      split.set(name, array);
      continue;
    }
    const [, block, suffix] = match;
    const [rows, ...rest] = array.shape as [number, ...number[]];
    const shape = [rows / 3, ...rest];
    ['q', 'k', 'v'].forEach((part, i) => {
      const size = sizeOf(shape);
      const data = (array.data as Float32Array).slice(i * size, (i + 1) * size);
      split.set(`${block}${part}${suffix}`, { dtype: 'f32', shape, data });
    });
  }
  return split;
}

/**
 * Puts the weights of a directory on a device.
 *
 * @throws DataError naming the first weight that is missing or has another shape
 */
export async function loadWeights(
  device: Device,
  directory: string,
  specs: readonly ParameterSpec[],
): Promise<Record<string, Tensor>> {
  return placeArrays(device, directory, specs, unfuse(await readWeights(directory)));
}

/**
 * Puts arrays read from a directory on a device.
 *
 * @throws DataError naming the first weight that is missing or has another shape
 */
export function placeArrays(
  device: Device,
  directory: string,
  specs: readonly ParameterSpec[],
  arrays: ReadonlyMap<string, NamedArray>,
): Record<string, Tensor> {
  for (const { name, shape } of specs) {
    const array = arrays.get(name);
    if (array === undefined) {
      throw new DataError(`The weights in ${directory} have no "${name}".`);
    }
    if (!sameShape(array.shape, shape)) {
      throw new DataError(
        `"${name}" in ${directory} must be ${formatShape(shape)}, got ${formatShape(array.shape)}. ` +
          'config.json and the weights disagree.',
      );
    }
  }
  return Object.fromEntries(
    specs.map(({ name, shape }) => [
      name,
      tensor(device, 'f32', shape, (arrays.get(name) as NamedArray).data),
    ]),
  );
}

/** Copies tensors to the host. */
export async function toHost(
  tensors: Readonly<Record<string, Tensor>>,
): Promise<Map<string, NamedArray>> {
  const arrays = new Map<string, NamedArray>();
  for (const [name, t] of Object.entries(tensors)) {
    arrays.set(name, { dtype: 'f32', shape: t.shape, data: (await t.read()) as Float32Array });
  }
  return arrays;
}
