/** A checksum of weights from a fixed sample of each tensor: cheap, and it moves with every step. */
import { createHash } from 'node:crypto';
import { convert } from '@saccade/core';
import type { Tensor } from '@saccade/tensor';

/** Elements of a tensor that are looked at. */
const SAMPLED = 64;

/**
 * SHA-256, hex, over each tensor in the order of names: name and shape, a line each, and up to 64
 * elements at the flat indices ⌊i·numel/64⌋ as little-endian f32.
 */
export async function checksumOf(tensors: Readonly<Record<string, Tensor>>): Promise<string> {
  const hash = createHash('sha256');
  const names = Object.keys(tensors).sort();
  for (const name of names) {
    const tensor = tensors[name] as Tensor;
    hash.update(`${name}\n${tensor.shape.join(',')}\n`, 'utf8');
    const data = await tensor.read();
    const indices = sampledIndices(tensor.size);
    const own = data.constructor as new (values: ArrayLike<number>) => typeof data;
    const picked = new own(Array.from(indices, (at) => data[at] as number));
    const values = convert(picked, tensor.dtype, 'f32') as Float32Array;
    hash.update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }
  return hash.digest('hex');
}

function sampledIndices(size: number): readonly number[] {
  const all = Array.from({ length: SAMPLED }, (_, i) => Math.floor((i * size) / SAMPLED));
  return [...new Set(all)].filter((at) => at < size);
}
