/** An image that scripts behind golden values make by the same formula. */
import type { DecodedImage } from './decode-image.ts';

export function drawing(width: number, height: number): DecodedImage {
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const tile = (Math.floor(x / 9) + Math.floor(y / 7)) % 2;
      for (let c = 0; c < 3; c++) {
        const value = x * 7 + y * 13 + c * 101 + ((x * y) % 31) * 5 + tile * 120;
        pixels[(y * width + x) * 3 + c] = value % 256;
      }
    }
  }
  return { pixels, width, height };
}
