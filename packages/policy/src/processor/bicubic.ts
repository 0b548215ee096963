/** Bicubic resampling with antialiasing, the arithmetic of Pillow's `Image.resize(…, BICUBIC)`. */

/** Pillow's fixed-point precision for 8-bit pictures. */
const PRECISION_BITS = 32 - 8 - 2;

/** Keys' cubic with a = −1/2. */
function cubic(distance: number): number {
  const a = -0.5;
  const x = Math.abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

interface Window {
  readonly first: number;
  /** Fixed-point weights that sum to about 2^PRECISION_BITS. */
  readonly weights: Int32Array;
}

/** For each output place: the input places it mixes. The kernel widens when shrinking. */
function windows(inputSize: number, outputSize: number): readonly Window[] {
  const scale = inputSize / outputSize;
  const stretch = Math.max(scale, 1);
  const support = 2 * stretch;
  return Array.from({ length: outputSize }, (_, place) => {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const end = Math.min(inputSize, Math.trunc(centre + support + 0.5));
    const raw = Float64Array.from({ length: end - first }, (_, i) =>
      cubic((i + first - centre + 0.5) / stretch),
    );
    const total = raw.reduce((sum, w) => sum + w, 0);
    const weights = Int32Array.from(raw, (w) => {
      const fixed = (w / total) * (1 << PRECISION_BITS);
      return Math.trunc(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
    });
    return { first, weights };
  });
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
  const plan = windows(width, newWidth);
  // A row as integers of the sums' own type: each value is read many times.
  const row = new Int32Array(width * 3);
  let to = 0;
  for (let y = 0; y < height; y++) {
    row.set(pixels.subarray(y * width * 3, (y + 1) * width * 3));
    for (let x = 0; x < newWidth; x++) {
      const { first, weights } = plan[x] as Window;
      const count = weights.length;
      let r = HALF;
      let g = HALF;
      let b = HALF;
      let from = first * 3;
      for (let i = 0; i < count; i++, from += 3) {
        const weight = weights[i] as number;
        r = (r + Math.imul(weight, row[from] as number)) | 0;
        g = (g + Math.imul(weight, row[from + 1] as number)) | 0;
        b = (b + Math.imul(weight, row[from + 2] as number)) | 0;
      }
      out[to++] = clip8(r);
      out[to++] = clip8(g);
      out[to++] = clip8(b);
    }
  }
  return out;
}

function resizeColumns(pixels: Uint8Array, width: number, height: number, newHeight: number) {
  const row = width * 3;
  const out = new Uint8Array(row * newHeight);
  const sums = new Int32Array(row);
  windows(height, newHeight).forEach(({ first, weights }, y) => {
    sums.fill(HALF);
    for (let i = 0; i < weights.length; i++) {
      const weight = weights[i] as number;
      const from = (first + i) * row;
      for (let x = 0; x < row; x++) {
        sums[x] = (sums[x] as number) + Math.imul(weight, pixels[from + x] as number);
      }
    }
    for (let x = 0; x < row; x++) out[y * row + x] = clip8(sums[x] as number);
  });
  return out;
}
