/** safetensors files as host arrays: read with every offset checked, written durably. */
import {
  convert,
  DataError,
  formatShape,
  type Shape,
  ShapeError,
  sizeOf,
  viewBytes,
} from '@saccade/core';
import { SafetensorsFile } from './safetensors-file.ts';
import { formatHeader, type StoredType, storedBytes } from './safetensors-header.ts';
import { writeDurably } from './write-durably.ts';

/** A named array on the host: all float types as float32, all integers as int32. */
export interface NamedArray {
  readonly dtype: 'f32' | 'i32';
  readonly shape: Shape;
  readonly data: Float32Array | Int32Array;
}

/**
 * All tensors of a file, in the order of their bytes.
 *
 * @throws DataError naming the defect, or the 64-bit integer that int32 cannot hold
 */
export async function readSafetensors(path: string): Promise<Map<string, NamedArray>> {
  const file = await SafetensorsFile.open(path);
  try {
    const arrays = new Map<string, NamedArray>();
    for (const entry of file.tensors.values()) {
      const { name, dtype, shape, start, end } = entry;
      const bytes = new Uint8Array(end - start);
      await file.read(entry, bytes);
      arrays.set(name, { shape, ...converted(path, name, bytes.buffer, dtype) });
    }
    return arrays;
  } finally {
    await file.close();
  }
}

/** The texts that the writer of a file added to its header. @throws DataError if it is damaged */
export async function readSafetensorsMetadata(
  path: string,
): Promise<Readonly<Record<string, string>>> {
  const file = await SafetensorsFile.open(path);
  await file.close();
  return file.metadata;
}

/**
 * Writes a file durably: after an error or a crash `path` is what it was before.
 *
 * @throws ShapeError if an array's data does not fill its shape
 */
export async function writeSafetensors(
  path: string,
  arrays: ReadonlyMap<string, NamedArray>,
): Promise<void> {
  for (const [name, { data, shape }] of arrays) {
    if (data.length === sizeOf(shape)) continue;
    throw new ShapeError(
      `"${name}" ${formatShape(shape)} must have ${sizeOf(shape)} elements, got ${data.length}.`,
    );
  }
  await writeDurably(path, bytesOfArrays(arrays));
}

function* bytesOfArrays(arrays: ReadonlyMap<string, NamedArray>): Generator<Uint8Array> {
  yield formatHeader([...arrays].map(([name, array]) => ({ name, ...array })));
  for (const { data } of arrays.values()) {
    yield new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
}

export function converted(
  path: string,
  name: string,
  buffer: ArrayBuffer,
  dtype: StoredType,
): Pick<NamedArray, 'dtype' | 'data'> {
  switch (dtype) {
    case 'f32':
      return { dtype, data: new Float32Array(buffer) };
    case 'f64':
    case 'f16':
    case 'bf16':
      return {
        dtype: 'f32',
        data: convert(viewBytes(dtype, buffer), dtype, 'f32') as Float32Array,
      };
    case 'i32':
      return { dtype, data: new Int32Array(buffer) };
    case 'u8':
      return { dtype: 'i32', data: Int32Array.from(new Uint8Array(buffer)) };
    case 'i64': {
      const data = new Int32Array(buffer.byteLength / storedBytes(dtype));
      for (const [i, value] of new BigInt64Array(buffer).entries()) {
        data[i] = Number(value);
        if (BigInt(data[i] as number) === value) continue;
        throw new DataError(
          `"${name}" in ${path} has ${value} at element ${i}, beyond int32. ` +
            'Store it as 32-bit integers or floats.',
        );
      }
      return { dtype: 'i32', data };
    }
  }
}
