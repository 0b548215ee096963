/** Tells whether an adapter belongs to a base: a digest of some weights of every parameter. */
import { convert } from '@saccade/core';
import type { Tensor } from '@saccade/tensor';

/** Elements of each parameter that count. */
const SAMPLED = 64;

/**
 * A digest of names, shapes and first elements of frozen weights, hexadecimal. Elements count as
 * bf16, so that a base has one digest in whatever type it was loaded.
 */
export async function fingerprintOf(weights: Readonly<Record<string, Tensor>>): Promise<string> {
  const parts: Uint8Array[] = [];
  for (const [name, weight] of Object.entries(weights)) {
    const flat = weight.reshape([weight.size]);
    const first = await flat.rows(0, Math.min(SAMPLED, weight.size)).read();
    const bits = convert(Float32Array.from(first), 'f32', 'bf16');
    parts.push(new TextEncoder().encode(`${name} ${weight.shape.join(' ')}\n`));
    parts.push(new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength));
  }
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  // Of the platform, so that this also runs in browsers.
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', all));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
