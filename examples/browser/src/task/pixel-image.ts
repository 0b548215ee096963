/** Images as pixels and as PNG bytes, and the boxes that are cut out of them. */
import { decode, encode } from 'fast-png';

/** Interleaved RGB, 8 bits. */
export interface PixelImage {
  readonly width: number;
  readonly height: number;
  /** [height, width, 3] */
  readonly pixels: Uint8Array;
}

/** Left, top, right, bottom; pixels, right and bottom exclusive. */
export type Box = readonly [number, number, number, number];

/** Compressed for speed: a texture of noise does not get much smaller by trying harder. */
export function encodePng({ width, height, pixels }: PixelImage): Uint8Array {
  return encode({ width, height, data: pixels, channels: 3, depth: 8 }, { zlib: { level: 1 } });
}

/** The pixels of a PNG that `encodePng` wrote. */
export function decodePng(png: Uint8Array): PixelImage {
  const { width, height, data } = decode(png);
  return { width, height, pixels: Uint8Array.from(data) };
}

/** The pixels inside a box, which must lie inside the image. */
export function cutOut({ width, pixels }: PixelImage, [left, top, right, bottom]: Box): PixelImage {
  const row = (right - left) * 3;
  const cut = new Uint8Array(row * (bottom - top));
  for (let y = top; y < bottom; y++) {
    const from = (y * width + left) * 3;
    cut.set(pixels.subarray(from, from + row), (y - top) * row);
  }
  return { width: right - left, height: bottom - top, pixels: cut };
}
