/** safetensors in memory: bodies of requests and answers, checked as files are. */
import { DataError, formatShape, ShapeError, sizeOf } from '@saccade/core';
import { converted, type NamedArray } from './safetensors.ts';
import { formatHeader, headerLength, parseHeader } from './safetensors-header.ts';

/** Arrays by name, and the texts of the header. */
export interface SafetensorsContent {
  readonly arrays: ReadonlyMap<string, NamedArray>;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Reads the bytes of a safetensors file. The arrays are copies.
 *
 * @param what names the source in errors
 * @throws DataError naming the defect
 */
export function decodeSafetensors(what: string, bytes: Uint8Array): SafetensorsContent {
  const length = headerLength(what, bytes.subarray(0, 8), bytes.length);
  const start = 8 + length;
  const text = new TextDecoder().decode(bytes.subarray(8, start));
  const { tensors, metadata } = parseHeader(what, text, bytes.length - start);
  const arrays = new Map<string, NamedArray>();
  for (const { name, dtype, shape, start: from, end } of tensors) {
    if (arrays.has(name)) throw new DataError(`${what} has two tensors called "${name}".`);
    // A copy of its own: of a Buffer, `slice` would be a view of a shared pool.
    const own = new Uint8Array(bytes.subarray(start + from, start + end));
    arrays.set(name, { shape, ...converted(what, name, own.buffer, dtype) });
  }
  return { arrays, metadata };
}

/** The bytes of a safetensors file. @throws ShapeError if an array does not fill its shape */
export function encodeSafetensors({
  arrays,
  metadata,
}: SafetensorsContent): Uint8Array<ArrayBuffer> {
  for (const [name, { data, shape }] of arrays) {
    if (data.length === sizeOf(shape)) continue;
    throw new ShapeError(
      `"${name}" ${formatShape(shape)} must have ${sizeOf(shape)} elements, got ${data.length}.`,
    );
  }
  const header = formatHeader(
    [...arrays].map(([name, array]) => ({ name, ...array })),
    metadata,
  );
  const size = [...arrays.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
  const bytes = new Uint8Array(header.length + size);
  bytes.set(header);
  let at = header.length;
  for (const { data } of arrays.values()) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}
