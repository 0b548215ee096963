/** Weights of a policy as one safetensors file in float16: written in Node, read in a page. */
import { DataError, decode, encode, formatShape, sameShape } from '@saccade/core';
import type { Device } from '@saccade/ops';
import type { LanguageModel, LocalPolicy } from '@saccade/policy';
import { type Tensor, tensor } from '@saccade/tensor';

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** First and last byte, counted from the end of the header. */
  readonly data_offsets: readonly [number, number];
}

/** Bytes before the header: its length, a little-endian 64-bit integer. */
const LENGTH_BYTES = 8;

/** The weights of a policy, rounded to float16. */
export async function packWeights({ parameters, device }: LocalPolicy): Promise<Uint8Array> {
  const header: Record<string, Entry> = {};
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [name, { shape, array }] of Object.entries(parameters)) {
    const values = encode(await device.read(array), 'f16');
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    header[name] = { dtype: 'F16', shape, data_offsets: [at, at + bytes.length] };
    parts.push(bytes);
    at += bytes.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(LENGTH_BYTES + text.length + at);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, LENGTH_BYTES);
  let end = LENGTH_BYTES + text.length;
  for (const bytes of parts) {
    file.set(bytes, end);
    end += bytes.length;
  }
  return file;
}

/**
 * The weights of a file as tensors on a device.
 *
 * @throws DataError if it is not a file of weights, or of another model
 */
export function unpackWeights(
  file: ArrayBuffer,
  device: Device,
  model: LanguageModel,
): Record<string, Tensor> {
  const header = headerOf(file);
  const start = LENGTH_BYTES + Number(new DataView(file).getBigUint64(0, true));
  return Object.fromEntries(
    model.specs.map(({ name, shape }) => {
      const entry = header[name];
      if (entry === undefined || entry.dtype !== 'F16' || !sameShape(entry.shape, shape)) {
        const found =
          entry === undefined ? 'nothing' : `${entry.dtype} ${formatShape(entry.shape)}`;
        throw new DataError(
          `The weights of the cold start hold ${found} as ${name}, and this policy has F16 ` +
            `${formatShape(shape)}. Make them again: node examples/browser/cold-starts.mjs.`,
        );
      }
      const [from, to] = entry.data_offsets;
      const values = new Uint16Array(file.slice(start + from, start + to));
      return [name, tensor(device, 'f32', shape, decode(values, 'f16'))];
    }),
  );
}

function headerOf(file: ArrayBuffer): Readonly<Record<string, Entry>> {
  try {
    const length = Number(new DataView(file).getBigUint64(0, true));
    return JSON.parse(new TextDecoder().decode(new Uint8Array(file, LENGTH_BYTES, length)));
  } catch (error) {
    throw new DataError('The weights of the cold start are damaged. Reload the page.', {
      cause: error,
    });
  }
}
