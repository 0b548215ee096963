/** Bicubic resampling with antialiasing, the arithmetic of Pillow's `Image.resize(…, BICUBIC)`. */

/** Pillow's fixed-point precision for 8-bit images. */
const PRECISION_BITS = 32 - 8 - 2;

/** Keys' cubic with a = −1/2. */
function cubic(distance: number): number {
  const a = -0.5;
  const x = Math.abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/** For each output place, the input places it mixes. */
interface Windows {
  /** Input places mixed per output place, as many for each. */
  readonly taps: number;
  /** [outputs]: the first of them. */
  readonly firsts: Int32Array;
  /** [outputs, taps]: fixed-point weights; each row sums to about 2^PRECISION_BITS. */
  readonly weights: Int32Array;
}

/** The kernel widens when shrinking. Windows cut by a border are filled up with weights of zero. */
function windows(inputSize: number, outputSize: number): Windows {
  const scale = inputSize / outputSize;
  const stretch = Math.max(scale, 1);
  const support = 2 * stretch;
  const taps = Math.min(inputSize, Math.ceil(2 * support) + 1);
  const firsts = new Int32Array(outputSize);
  const weights = new Int32Array(outputSize * taps);
  for (let place = 0; place < outputSize; place++) {
    const center = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const end = Math.min(inputSize, Math.trunc(center + support + 0.5));
    const raw = Float64Array.from({ length: end - first }, (_, i) =>
      cubic((i + first - center + 0.5) / stretch),
    );
    const total = raw.reduce((sum, w) => sum + w, 0);
    const start = Math.min(first, inputSize - taps);
    firsts[place] = start;
    raw.forEach((w, i) => {
      const fixed = (w / total) * (1 << PRECISION_BITS);
      weights[place * taps + first - start + i] = Math.trunc(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
    });
  }
  return { taps, firsts, weights };
}

const HALF = 1 << (PRECISION_BITS - 1);

/** Sums stay below 2^31: that is what the precision was chosen for. */
function clip8(fixed: number): number {
  const value = fixed >> PRECISION_BITS;
  return Math.max(0, Math.min(255, value));
}

/**
 * Resizes interleaved RGB: first along rows, then along columns, rounding to 8 bits in between.
 *
 * @param pixels  [height, width, 3]
 */
export function resizeBicubic(
  pixels: Uint8Array,
  width: number,
  height: number,
  newWidth: number,
  newHeight: number,
): Uint8Array {
  const wide = newWidth === width ? pixels : resizeRows(pixels, width, height, newWidth);
  return newHeight === height ? wide : resizeColumns(wide, newWidth, height, newHeight);
}

function resizeRows(pixels: Uint8Array, width: number, height: number, newWidth: number) {
  const out = new Uint8Array(newWidth * height * 3);
  const { taps, firsts, weights } = windows(width, newWidth);
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
      let r = HALF;
      let g = HALF;
      let b = HALF;
      let from = firsts[x] as number;
      for (const end = tap + taps; tap < end; tap++, from++) {
        const weight = weights[tap] as number;
        const pixel = row[from] as number;
        r = (r + Math.imul(weight, pixel & 255)) | 0;
        g = (g + Math.imul(weight, (pixel >> 8) & 255)) | 0;
        b = (b + Math.imul(weight, pixel >> 16)) | 0;
      }
      out[to] = clip8(r);
      out[to + 1] = clip8(g);
      out[to + 2] = clip8(b);
    }
  }
  return out;
}

function resizeColumns(pixels: Uint8Array, width: number, height: number, newHeight: number) {
  const row = width * 3;
  const out = new Uint8Array(row * newHeight);
  const { taps, firsts, weights } = windows(height, newHeight);
  let to = 0;
  for (let y = 0; y < newHeight; y++) {
    const end = (y + 1) * taps;
    for (let x = 0; x < row; x++) {
      let sum = HALF;
      let from = (firsts[y] as number) * row + x;
      for (let tap = y * taps; tap < end; tap++, from += row) {
        sum = (sum + Math.imul(weights[tap] as number, pixels[from] as number)) | 0;
      }
      out[to++] = clip8(sum);
    }
  }
  return out;
}
