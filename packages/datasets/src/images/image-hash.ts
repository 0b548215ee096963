/** Hashes of images: of their pixels, and of how they look. */
import { createHash } from 'node:crypto';

/** Gray levels within which two pixels are equal: where paper is white, compression leaves as much. */
const NOISE = 2;
/** Columns and rows of differences: 64 bits. */
const [COLUMNS, ROWS] = [8, 8];

/** A 64-bit difference hash as two words of 32 bits, rows from the top. */
export type DHash = readonly [number, number];

/**
 * The difference hash (Krawetz, 2013): of the image shrunk to 9 × 8 gray pixels, whether each pixel
 * is brighter than the one to its right. Scaling, compression and brightness change few bits.
 */
export async function dHash(encoded: Uint8Array): Promise<DHash> {
  const { default: sharp } = await import('sharp');
  const pixels = await sharp(encoded)
    .flatten({ background: '#fff' })
    .greyscale()
    .resize(COLUMNS + 1, ROWS, { fit: 'fill', kernel: 'cubic' })
    .raw()
    .toBuffer();
  const words: [number, number] = [0, 0];
  for (let y = 0; y < ROWS; y++) {
    for (let x = 0; x < COLUMNS; x++) {
      const at = y * (COLUMNS + 1) + x;
      if ((pixels[at] as number) <= (pixels[at + 1] as number) + NOISE) continue;
      const bit = y * COLUMNS + x;
      words[bit >>> 5] = ((words[bit >>> 5] as number) | (1 << (bit & 31))) >>> 0;
    }
  }
  return words;
}

/** Bits in which two hashes differ, 0 to 64. */
export function hammingDistance(a: DHash, b: DHash): number {
  return bitCount(a[0] ^ b[0]) + bitCount(a[1] ^ b[1]);
}

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Half of the SHA-256 of an image's size and pixels: the same for every lossless encoding. */
export async function pixelHash(encoded: Uint8Array): Promise<string> {
  const { default: sharp } = await import('sharp');
  const { data, info } = await sharp(encoded)
    .toColorspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const hash = createHash('sha256').update(`${info.width}x${info.height}\0`).update(data);
  return hash.digest('hex').slice(0, 32);
}
