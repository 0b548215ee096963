/**
 * safetensors files: an 8-byte header length, a JSON header, and the tensors' bytes.
 * Reading trusts nothing: every offset is checked before a byte is used.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  bytesOf,
  DataError,
  type DType,
  decode,
  encode,
  type Shape,
  sizeOf,
  type TypedArray,
} from '@saccade/core';

/** A named array on the host, as float32 or int32. */
export interface NamedArray {
  readonly dtype: 'f32' | 'i32';
  readonly shape: Shape;
  readonly data: Float32Array | Int32Array;
}

const DTYPES: Readonly<Record<string, DType>> = {
  F32: 'f32',
  F16: 'f16',
  BF16: 'bf16',
  I32: 'i32',
  F64: 'f64',
};
/** Headers beyond this are refused: real ones are far below. */
const MAX_HEADER_BYTES = 100 * 1024 * 1024;

interface Entry {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly start: number;
  readonly end: number;
}

/** All tensors of a file, converted to float32 (integers stay). @throws DataError naming the defect */
export async function readSafetensors(path: string): Promise<Map<string, NamedArray>> {
  const bytes = await readFile(path);
  const { entries, dataStart } = parseHeader(bytes, path);
  const arrays = new Map<string, NamedArray>();
  for (const entry of entries) {
    const slice = bytes.subarray(dataStart + entry.start, dataStart + entry.end);
    const copy = slice.buffer.slice(slice.byteOffset, slice.byteOffset + slice.byteLength);
    arrays.set(entry.name, { ...converted(copy as ArrayBuffer, entry.dtype), shape: entry.shape });
  }
  return arrays;
}

/** The tensors of a directory: `model.safetensors`, or the shards of its index. */
export async function readSafetensorsDirectory(
  directory: string,
): Promise<Map<string, NamedArray>> {
  let index: string;
  try {
    index = await readFile(join(directory, 'model.safetensors.index.json'), 'utf8');
  } catch {
    return readSafetensors(join(directory, 'model.safetensors'));
  }
  const parsed = JSON.parse(index) as { weight_map?: Record<string, string> };
  const shards = new Set(Object.values(parsed.weight_map ?? {}));
  const all = new Map<string, NamedArray>();
  for (const shard of shards) {
    if (dirname(shard) !== '.') {
      throw new DataError(`The index in ${directory} names the shard "${shard}" outside of it.`);
    }
    for (const [name, array] of await readSafetensors(join(directory, shard))) all.set(name, array);
  }
  return all;
}

/** Writes a file durably: to a temporary name, synced, then renamed into place. */
export async function writeSafetensors(
  path: string,
  arrays: ReadonlyMap<string, NamedArray>,
): Promise<void> {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let offset = 0;
  for (const [name, array] of arrays) {
    const end = offset + array.data.byteLength;
    const dtype = array.dtype === 'f32' ? 'F32' : 'I32';
    header[name] = { dtype, shape: array.shape, data_offsets: [offset, end] };
    offset = end;
  }
  let text = JSON.stringify(header);
  text += ' '.repeat((8 - (Buffer.byteLength(text) % 8)) % 8);
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  const temporary = `${path}.partial`;
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(head);
      await file.writeFile(text);
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
}

function parseHeader(bytes: Buffer, path: string): { entries: Entry[]; dataStart: number } {
  const broken = (why: string) => new DataError(`${path} is not a sound safetensors file: ${why}.`);
  if (bytes.length < 8) throw broken('it is shorter than its header length');
  const headerBytes = Number(bytes.readBigUInt64LE(0));
  if (headerBytes > MAX_HEADER_BYTES || headerBytes > bytes.length - 8) {
    throw broken(`its header claims ${headerBytes} bytes of ${bytes.length}`);
  }
  const dataStart = 8 + headerBytes;
  let header: unknown;
  try {
    header = JSON.parse(bytes.toString('utf8', 8, dataStart));
  } catch (error) {
    throw new DataError(broken('its header is not JSON').message, { cause: error });
  }
  if (header === null || typeof header !== 'object') throw broken('its header is not an object');
  const entries: Entry[] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const {
      dtype,
      shape,
      data_offsets: offsets,
    } = value as {
      dtype?: string;
      shape?: number[];
      data_offsets?: [number, number];
    };
    const type = DTYPES[dtype ?? ''];
    if (type === undefined) throw broken(`"${name}" has the element type ${dtype}`);
    if (!Array.isArray(shape) || !shape.every((n) => Number.isInteger(n) && n >= 0)) {
      throw broken(`"${name}" has no shape`);
    }
    if (!Array.isArray(offsets)) throw broken(`"${name}" has no offsets`);
    const [start, end] = offsets;
    if (start < 0 || end < start || dataStart + end > bytes.length) {
      throw broken(`"${name}" lies at [${start}, ${end}), outside of the file`);
    }
    if (end - start !== sizeOf(shape) * bytesOf(type)) {
      throw broken(
        `"${name}" has ${end - start} bytes, its shape needs ${sizeOf(shape) * bytesOf(type)}`,
      );
    }
    entries.push({ name, dtype: type, shape, start, end });
  }
  entries.sort((a, b) => a.start - b.start || a.end - b.end);
  let reached = 0;
  for (const entry of entries) {
    if (entry.start !== reached)
      throw broken(`there is a hole or an overlap before "${entry.name}"`);
    reached = entry.end;
  }
  if (dataStart + reached !== bytes.length) throw broken('it has bytes that belong to no tensor');
  return { entries, dataStart };
}

function converted(buffer: ArrayBuffer, dtype: DType): Pick<NamedArray, 'dtype' | 'data'> {
  if (dtype === 'i32') return { dtype, data: new Int32Array(buffer) };
  if (dtype === 'f32') return { dtype, data: new Float32Array(buffer) };
  const stored: TypedArray = dtype === 'f64' ? new Float64Array(buffer) : new Uint16Array(buffer);
  return { dtype: 'f32', data: encode(decode(stored, dtype), 'f32') as Float32Array };
}
