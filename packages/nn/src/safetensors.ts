/** safetensors files: read with every offset checked, written durably. */
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  DataError,
  decode,
  formatShape,
  messageOf,
  type Shape,
  ShapeError,
  sizeOf,
} from '@saccade/core';
import {
  formatHeader,
  headerLength,
  parseHeader,
  type StoredType,
  storedBytes,
  unsound,
} from './safetensors-header.ts';

/** A named array on the host: all float types as float32, all integers as int32. */
export interface NamedArray {
  readonly dtype: 'f32' | 'i32';
  readonly shape: Shape;
  readonly data: Float32Array | Int32Array;
}

const INDEX = 'model.safetensors.index.json';

/**
 * All tensors of a file, in the order of their bytes.
 *
 * @throws DataError naming the defect, or the 64-bit integer that int32 cannot hold
 */
export async function readSafetensors(path: string): Promise<Map<string, NamedArray>> {
  try {
    return await readArrays(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** A defect unchanged; an error of the operating system as a DataError. */
function unreadable(path: string, error: unknown): unknown {
  if (error instanceof DataError || !(error instanceof Error)) return error;
  if ((error as NodeJS.ErrnoException).code === undefined) return error;
  return new DataError(`${path} cannot be read: ${messageOf(error)}. Check the path.`, {
    cause: error,
  });
}

async function readArrays(path: string): Promise<Map<string, NamedArray>> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const headerBytes = headerLength(path, await readRange(path, file, 0, Math.min(8, size)), size);
    const dataStart = 8 + headerBytes;
    const header = new TextDecoder().decode(await readRange(path, file, 8, headerBytes));
    const arrays = new Map<string, NamedArray>();
    for (const entry of parseHeader(path, header, size - dataStart)) {
      const { name, dtype, shape, start, end } = entry;
      const bytes = await readRange(path, file, dataStart + start, end - start);
      arrays.set(name, { shape, ...converted(path, name, bytes.buffer, dtype) });
    }
    return arrays;
  } finally {
    await file.close();
  }
}

/**
 * The tensors of a directory: of the shards its `model.safetensors.index.json` names, or of
 * `model.safetensors` where there is no index.
 *
 * @throws DataError if the index is broken or does not fit its shards
 */
export async function readSafetensorsDirectory(
  directory: string,
): Promise<Map<string, NamedArray>> {
  const shardOf = await readIndex(directory);
  if (shardOf === undefined) return readSafetensors(join(directory, 'model.safetensors'));
  const all = new Map<string, NamedArray>();
  for (const shard of new Set(shardOf.values())) {
    for (const [name, array] of await readSafetensors(join(directory, shard))) {
      if (shardOf.get(name) === shard) all.set(name, array);
    }
  }
  for (const [name, shard] of shardOf) {
    if (all.has(name)) continue;
    throw new DataError(
      `${INDEX} in ${directory} places "${name}" in ${shard}, which does not have it. ` +
        'Get the index and the shards from the same place.',
    );
  }
  return all;
}

/** Shard of every tensor, or undefined where there is no index. */
async function readIndex(directory: string): Promise<Map<string, string> | undefined> {
  const path = join(directory, INDEX);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
  const broken = (why: string, cause?: unknown) =>
    new DataError(`${path} is not a valid index: ${why}. Write or download it again.`, { cause });
  let index: { readonly weight_map?: unknown } | null;
  try {
    index = JSON.parse(text);
  } catch (error) {
    throw broken(messageOf(error), error);
  }
  const shards = index?.weight_map;
  if (typeof shards !== 'object' || shards === null) throw broken('it has no weight_map');
  const shardOf = new Map<string, string>();
  for (const [name, shard] of Object.entries(shards)) {
    if (typeof shard !== 'string' || basename(shard) !== shard || shard === '..') {
      throw broken(`the shard of "${name}" is ${JSON.stringify(shard)}, no file beside it`);
    }
    shardOf.set(name, shard);
  }
  return shardOf;
}

/**
 * Writes a file durably: to `<path>.partial`, synced, then renamed into place. After an error or a
 * crash `path` is what it was before.
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
  const header = formatHeader([...arrays].map(([name, array]) => ({ name, ...array })));
  const temporary = `${path}.partial`;
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(header);
      for (const { data } of arrays.values()) {
        await file.writeFile(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Makes a rename survive a power cut, where the system can. */
async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories, so the rename cannot be made more durable there.
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function readRange(path: string, file: FileHandle, position: number, length: number) {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done);
    if (bytesRead === 0)
      throw unsound(path, `it ended at byte ${position + done} while being read`);
    done += bytesRead;
  }
  return bytes;
}

function converted(
  path: string,
  name: string,
  buffer: ArrayBuffer,
  dtype: StoredType,
): Pick<NamedArray, 'dtype' | 'data'> {
  switch (dtype) {
    case 'f32':
      return { dtype, data: new Float32Array(buffer) };
    case 'f64':
      return { dtype: 'f32', data: Float32Array.from(new Float64Array(buffer)) };
    case 'f16':
    case 'bf16':
      return { dtype: 'f32', data: Float32Array.from(decode(new Uint16Array(buffer), dtype)) };
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
