/** The value head on disk: a file of its own, which other libraries do not read. */
import { DataError, type DType, formatShape, sameShape } from '@saccade/core';
import { initialize } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import { hasFile, readArrays, writeParameterFile } from '#disk';
import { valueHeadSpecs } from './value-head.ts';

const FILE = 'value_head.safetensors';

/** Whether a directory has a value head. */
export function hasValueHead(directory: string): boolean {
  return hasFile(directory, FILE);
}

/**
 * The value head of a directory, or one that predicts 0 if it has none.
 *
 * @throws DataError naming what the file lacks
 */
export async function readValueHead(
  device: Device,
  directory: string,
  hidden: number,
  dtype: DType = 'f32',
): Promise<Record<string, Tensor>> {
  const specs = valueHeadSpecs(hidden);
  if (!hasValueHead(directory)) return initialize(device, specs, 0, dtype);
  const arrays = await readArrays(directory, FILE);
  const found = specs.map(({ name, shape }) => {
    const array = arrays.get(name);
    if (array !== undefined && sameShape(array.shape, shape)) return [name, array] as const;
    const got = array === undefined ? 'none' : formatShape(array.shape);
    throw new DataError(
      `"${name}" in ${FILE} of ${directory} must be ${formatShape(shape)}, got ${got}. ` +
        'Take the value head of the same model.',
    );
  });
  return Object.fromEntries(
    found.map(([name, { shape, data }]) => [name, tensor(device, dtype, shape, data)]),
  );
}

export async function writeValueHead(
  directory: string,
  parameters: Readonly<Record<string, Tensor>>,
): Promise<void> {
  const tensors = Object.keys(parameters).map((name) => ({ name, parameters: [name] }));
  if (tensors.length > 0) await writeParameterFile(directory, FILE, parameters, tensors);
}
