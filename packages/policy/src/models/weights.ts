/** Weights on disk: the names and fused tensors of published checkpoints. */
import { DataError, formatShape, type Shape, sameShape, sizeOf } from '@saccade/core';
import type { NamedArray, ParameterSpec } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { readWeights } from '#disk';
import type { LanguageModel } from './language-model.ts';

type Stored = Pick<LanguageModel, 'storedAs' | 'alternatives'>;

/** Host arrays under the names of checkpoints, with parts of one stored tensor joined. */
export function fuse(
  arrays: ReadonlyMap<string, NamedArray>,
  { storedAs }: Stored,
): Map<string, NamedArray> {
  const parts = new Map<string, NamedArray[]>();
  for (const [parameter, array] of arrays) {
    const { name, part } = storedAs(parameter);
    const joined = parts.get(name) ?? [];
    parts.set(name, joined);
    joined[part?.index ?? 0] = array;
  }
  return new Map([...parts].map(([name, joined]) => [name, join(joined)]));
}

function join(parts: readonly NamedArray[]): NamedArray {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return first as NamedArray;
  const data = new Float32Array(parts.reduce((sum, part) => sum + part.data.length, 0));
  let offset = 0;
  for (const part of parts) {
    data.set(part.data, offset);
    offset += part.data.length;
  }
  const [rows, ...rest] = first.shape as [number, ...number[]];
  return { dtype: 'f32', shape: [rows * parts.length, ...rest], data };
}

/** The inverse of `fuse` for one parameter; undefined if the checkpoint does not have it. */
function unfuse(
  arrays: ReadonlyMap<string, NamedArray>,
  parameter: string,
  model: Stored,
): NamedArray | undefined {
  const { name, part } = model.storedAs(parameter);
  const stored = [name, ...model.alternatives(name)].find((known) => arrays.has(known));
  const array = stored === undefined ? undefined : arrays.get(stored);
  if (array === undefined || part === undefined) return array;
  const [rows, ...rest] = array.shape as [number, ...number[]];
  const shape: Shape = [rows / part.of, ...rest];
  const size = Number.isInteger(rows / part.of) ? sizeOf(shape) : 0;
  const data = array.data.slice(part.index * size, (part.index + 1) * size);
  return { dtype: 'f32', shape, data: data as Float32Array };
}

/**
 * Puts the weights of a directory on a device.
 *
 * @throws DataError naming the first weight that is missing or has another shape
 */
export async function loadWeights(
  device: Device,
  directory: string,
  model: LanguageModel,
): Promise<Record<string, Tensor>> {
  const stored = await readWeights(directory);
  const arrays = new Map<string, NamedArray>();
  for (const { name } of model.specs) {
    const array = unfuse(stored, name, model);
    if (array !== undefined) arrays.set(name, array);
  }
  return placeArrays(device, directory, model.specs, arrays);
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
