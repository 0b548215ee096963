/** A short name of an image's content, for caches. */
import type { ModelImage } from '../batch.ts';

const keys = new WeakMap<ModelImage, string>();

/**
 * The size, the time between a video's grids, and 64 bits of a hash of the pixels: two images with the
 * same key have the same content and positions, except one pair in 2⁶⁴. FNV-1a over the pixels' bits,
 * from two starts.
 */
export function imageKey(image: ModelImage): string {
  let key = keys.get(image);
  if (key === undefined) {
    const { patches, gridHeight, gridWidth, video } = image;
    const words = new Uint32Array(patches.buffer, patches.byteOffset, patches.length);
    let [a, b] = [0x811c9dc5, 0x9747b28c];
    for (const word of words) {
      a = Math.imul(a ^ word, 0x01000193);
      a ^= a >>> 15;
      b = Math.imul(b ^ (word >>> 16) ^ (word << 16), 0x85ebca6b);
      b ^= b >>> 13;
    }
    const size = `${gridHeight}x${gridWidth}${video === undefined ? '' : `@${video.secondsPerGrid}`}`;
    key = `${size}-${(a >>> 0).toString(16)}${(b >>> 0).toString(16)}`;
    keys.set(image, key);
  }
  return key;
}
