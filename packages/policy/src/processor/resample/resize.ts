/** Antialiased resizing of 8-bit RGB, with the very bytes of Pillow or of torchvision. */
import type { DecodedImage } from '../decode-image.ts';
import type { FilterName } from './filters.ts';
import { type Arithmetic, windows } from './windows.ts';

/** How an image is resized. */
export interface Resampling {
  readonly filter: FilterName;
  readonly arithmetic: Arithmetic;
}

/** Height to width of images that Pillow shrinks along their columns first, in `Image.resize`. */
const PILLOW_NARROW = 100;

/**
 * Resizes interleaved RGB: first along rows, then along columns, rounding to 8 bits in between. The
 * order shows where the first of the two overshoots and is cut to 8 bits.
 */
export function resize(
  image: DecodedImage,
  width: number,
  height: number,
  resampling: Resampling,
): DecodedImage {
  if (isColumnsFirst(image, height, resampling)) {
    return resize(resizeColumns(image, height, resampling), width, height, resampling);
  }
  const wide = image.width === width ? image : resizeRows(image, width, resampling);
  return image.height === height ? wide : resizeColumns(wide, height, resampling);
}

function isColumnsFirst(
  image: DecodedImage,
  newHeight: number,
  { arithmetic }: Resampling,
): boolean {
  return (
    arithmetic === 'pillow' &&
    image.height > image.width * PILLOW_NARROW &&
    newHeight < image.height
  );
}

function resizeRows(image: DecodedImage, newWidth: number, resampling: Resampling): DecodedImage {
  const { pixels, width, height } = image;
  const out = new Uint8Array(newWidth * height * 3);
  const { taps, firsts, weights, bits } = windows(
    width,
    newWidth,
    resampling.filter,
    resampling.arithmetic,
  );
  const half = 1 << (bits - 1);
  // A row's pixels as one word each: every pixel is read by many windows.
  const row = new Int32Array(width);
  let read = 0;
  let to = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++, read += 3) {
      const redGreen = (pixels[read] as number) | ((pixels[read + 1] as number) << 8);
      row[x] = redGreen | ((pixels[read + 2] as number) << 16);
    }
    let tap = 0;
    for (let x = 0; x < newWidth; x++, to += 3) {
      let r = half;
      let g = half;
      let b = half;
      let from = firsts[x] as number;
      for (const end = tap + taps; tap < end; tap++, from++) {
        const weight = weights[tap] as number;
        const pixel = row[from] as number;
        r = (r + Math.imul(weight, pixel & 255)) | 0;
        g = (g + Math.imul(weight, (pixel >> 8) & 255)) | 0;
        b = (b + Math.imul(weight, pixel >> 16)) | 0;
      }
      out[to] = clip8(r, bits);
      out[to + 1] = clip8(g, bits);
      out[to + 2] = clip8(b, bits);
    }
  }
  return { pixels: out, width: newWidth, height };
}

function resizeColumns(
  image: DecodedImage,
  newHeight: number,
  resampling: Resampling,
): DecodedImage {
  const { pixels, width, height } = image;
  const row = width * 3;
  const out = new Uint8Array(row * newHeight);
  const { taps, firsts, weights, bits } = windows(
    height,
    newHeight,
    resampling.filter,
    resampling.arithmetic,
  );
  const half = 1 << (bits - 1);
  // Row after row of the input, four at a time: every byte of a sum's row is read in order.
  const sums = new Int32Array(row);
  let to = 0;
  for (let y = 0; y < newHeight; y++) {
    sums.fill(half);
    let tap = y * taps;
    const end = tap + taps;
    let a = (firsts[y] as number) * row;
    for (; tap + 4 <= end; tap += 4, a += 4 * row) {
      const weightA = weights[tap] as number;
      const weightB = weights[tap + 1] as number;
      const weightC = weights[tap + 2] as number;
      const weightD = weights[tap + 3] as number;
      const [b, c, d] = [a + row, a + 2 * row, a + 3 * row];
      for (let x = 0; x < row; x++) {
        sums[x] =
          ((sums[x] as number) +
            Math.imul(weightA, pixels[a + x] as number) +
            Math.imul(weightB, pixels[b + x] as number) +
            Math.imul(weightC, pixels[c + x] as number) +
            Math.imul(weightD, pixels[d + x] as number)) |
          0;
      }
    }
    for (; tap < end; tap++, a += row) {
      const weight = weights[tap] as number;
      for (let x = 0; x < row; x++) {
        sums[x] = ((sums[x] as number) + Math.imul(weight, pixels[a + x] as number)) | 0;
      }
    }
    for (let x = 0; x < row; x++) out[to++] = clip8(sums[x] as number, bits);
  }
  return { pixels: out, width, height: newHeight };
}

/** Sums stay below 2³¹: that is what both precisions were chosen for. */
function clip8(fixed: number, bits: number): number {
  return Math.max(0, Math.min(255, fixed >> bits));
}
