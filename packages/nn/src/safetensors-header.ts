/** The header of a safetensors file: where each tensor lies. Every field is checked before use. */
import { bytesOf, DataError, type DType, messageOf, type Shape, sizeOf } from '@saccade/core';

/** Element types that can be read. */
export type StoredType = DType | 'i64' | 'u8';

const TYPES: Readonly<Record<string, StoredType>> = {
  F64: 'f64',
  F32: 'f32',
  F16: 'f16',
  BF16: 'bf16',
  I64: 'i64',
  I32: 'i32',
  U8: 'u8',
};

/** Larger headers are refused, as in the reference implementation; real ones are far smaller. */
const MAX_HEADER_BYTES: number = 100_000_000;

export interface TensorEntry {
  readonly name: string;
  readonly dtype: StoredType;
  readonly shape: Shape;
  /** [start, end) in bytes, from the end of the header. */
  readonly start: number;
  readonly end: number;
}

export function storedBytes(dtype: StoredType): number {
  if (dtype === 'i64') return 8;
  return dtype === 'u8' ? 1 : bytesOf(dtype);
}

/** The error for a broken file, with the remedy. */
export function unsound(path: string, why: string, cause?: unknown): DataError {
  return new DataError(
    `${path} is not a valid safetensors file: ${why}. Write or download it again.`,
    { cause },
  );
}

/** Length of the JSON that follows the first eight bytes. @throws DataError if it cannot be */
export function headerLength(path: string, firstEight: Uint8Array, fileBytes: number): number {
  if (firstEight.length < 8) throw unsound(path, 'it is shorter than its header length');
  const { buffer, byteOffset } = firstEight;
  const length = new DataView(buffer, byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(MAX_HEADER_BYTES) || Number(length) > fileBytes - 8) {
    throw unsound(path, `its header claims ${length} bytes of a file of ${fileBytes}`);
  }
  return Number(length);
}

/** The header of a file. */
export interface Header {
  /** In the order of their bytes. */
  readonly tensors: readonly TensorEntry[];
  /** Texts that the writer added. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Tensors in the order of their bytes, which they cover without holes or overlaps.
 *
 * @param dataBytes  bytes of the file after the header
 * @throws DataError naming the tensor and the defect
 */
export function parseHeader(path: string, text: string, dataBytes: number): Header {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    throw unsound(path, `its header is not JSON (${messageOf(error)})`, error);
  }
  if (!isRecord(header)) throw unsound(path, 'its header is not an object');
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => parseEntry(path, name, value))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  let reached = 0;
  for (const { name, start, end } of entries) {
    if (start !== reached) {
      const what = start > reached ? 'a hole' : 'an overlap';
      throw unsound(
        path,
        `there is ${what} before "${name}", at byte ${start} instead of ${reached}`,
      );
    }
    reached = end;
  }
  if (reached !== dataBytes) {
    const what = reached > dataBytes ? 'it is truncated: ' : '';
    throw unsound(path, `${what}its tensors take ${reached} bytes, but it holds ${dataBytes}`);
  }
  return { tensors: entries, metadata: textsOf(header.__metadata__) };
}

function textsOf(metadata: unknown): Header['metadata'] {
  const entries = isRecord(metadata) ? Object.entries(metadata) : [];
  const texts = entries.flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value]] : [],
  );
  return Object.fromEntries(texts);
}

function parseEntry(path: string, name: string, value: unknown): TensorEntry {
  if (!isRecord(value)) throw unsound(path, `"${name}" has no description`);
  const { dtype: type, shape, data_offsets: offsets } = value;
  const dtype = Object.hasOwn(TYPES, String(type)) ? TYPES[String(type)] : undefined;
  if (dtype === undefined) {
    const known = Object.keys(TYPES).join(', ');
    throw unsound(path, `"${name}" has the element type ${String(type)}; known are ${known}`);
  }
  if (!isListOfCounts(shape)) throw unsound(path, `"${name}" has no shape`);
  if (!isListOfCounts(offsets) || offsets.length !== 2) {
    throw unsound(path, `"${name}" has no start and end`);
  }
  const [start, end] = offsets as [number, number];
  const needed = sizeOf(shape) * storedBytes(dtype);
  if (end - start !== needed) {
    throw unsound(path, `"${name}" takes ${end - start} bytes, its shape needs ${needed}`);
  }
  return { name, dtype, shape, start, end };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);
}

/** The first bytes of a file with these tensors in this order: header length and header. */
export function formatHeader(
  tensors: Iterable<{
    readonly name: string;
    readonly dtype: DType;
    readonly shape: Shape;
  }>,
  metadata: Header['metadata'] = {},
): Uint8Array {
  // Entries, not keys: a tensor may be called __proto__.
  const entries: [string, unknown][] = [['__metadata__', { ...metadata, format: 'pt' }]];
  let start = 0;
  for (const { name, dtype, shape } of tensors) {
    const end = start + sizeOf(shape) * storedBytes(dtype);
    entries.push([name, { dtype: dtype.toUpperCase(), shape, data_offsets: [start, end] }]);
    start = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  // Spaces bring the data to a multiple of eight bytes.
  const length = Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(8 + length).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(json, 8);
  return bytes;
}
