/** The part of a drawing that an overview cannot show: what halving an image takes away. */

/** Half the width of the bicubic filter, in pixels of the halved image. */
const SUPPORT = 2;

/** Projections by side of the image. */
const projections = new Map<number, Float64Array>();

/**
 * A drawing on a blank image of `size` × `size` without everything that remains of it in an image of half
 * the size, so that the halved image is the same with and without it:
 *
 *   ink = drawing − Q·drawing·Qᵀ,   Q = Rᵀ(R·Rᵀ)⁻¹R
 *
 * R [size/2, size] is the bicubic filter of the image processor, which resizes rows and columns one after
 * the other; Q projects on what it keeps.
 *
 * @param drawing [size, size] gray levels
 * @returns       [size, size] gray levels
 */
export function invisibleInk(drawing: Float64Array, size: number): Float64Array {
  const kept = projection(size);
  const rows = multiply(kept, drawing, size);
  // Q is symmetric.
  const both = multiply(rows, kept, size);
  return drawing.map((value, at) => value - (both[at] ?? 0));
}

/** Q, [size, size]. */
function projection(size: number): Float64Array {
  const known = projections.get(size);
  if (known !== undefined) return known;
  const half = size / 2;
  const filter = halvingFilter(size);
  // Solves (R·Rᵀ)·X = R; the matrix is a band around its diagonal and well conditioned.
  const gram = Array.from({ length: half }, (_, i) =>
    Float64Array.from({ length: half }, (_, j) => dot(filter[i], filter[j])),
  );
  const solved = filter.map((row) => row.slice());
  for (let pivot = 0; pivot < half; pivot++) {
    for (let row = 0; row < half; row++) {
      const from = gram[pivot] as Float64Array;
      const into = gram[row] as Float64Array;
      const factor = (into[pivot] ?? 0) / (from[pivot] ?? 1);
      if (row === pivot || factor === 0) continue;
      subtract(into, from, factor);
      subtract(solved[row] as Float64Array, solved[pivot] as Float64Array, factor);
    }
  }
  const q = new Float64Array(size * size);
  for (let k = 0; k < half; k++) {
    const diagonal = gram[k]?.[k] ?? 1;
    for (let i = 0; i < size; i++) {
      const left = (filter[k]?.[i] ?? 0) / diagonal;
      if (left === 0) continue;
      for (let j = 0; j < size; j++) {
        q[i * size + j] = (q[i * size + j] ?? 0) + left * (solved[k]?.[j] ?? 0);
      }
    }
  }
  projections.set(size, q);
  return q;
}

/** R: for each pixel of the halved row, its weights over the row; they sum to 1. */
function halvingFilter(size: number): Float64Array[] {
  return Array.from({ length: size / 2 }, (_, target) => {
    const center = 2 * target + 1;
    const weights = Float64Array.from({ length: size }, (_, x) => cubic((x + 0.5 - center) / 2));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  });
}

/** The bicubic kernel with a = −1/2. */
function cubic(x: number): number {
  const d = Math.abs(x);
  if (d >= SUPPORT) return 0;
  return d < 1 ? (1.5 * d - 2.5) * d * d + 1 : ((-0.5 * d + 2.5) * d - 4) * d + 2;
}

function dot(a: Float64Array = new Float64Array(0), b: Float64Array = a): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function subtract(into: Float64Array, from: Float64Array, factor: number): void {
  for (let i = 0; i < into.length; i++) into[i] = (into[i] ?? 0) - factor * (from[i] ?? 0);
}

function multiply(a: Float64Array, b: Float64Array, size: number): Float64Array {
  const out = new Float64Array(size * size);
  // A drawing covers one cell; most rows are empty.
  const drawn = Array.from({ length: size }, (_, k) => k).filter((k) =>
    b.subarray(k * size, (k + 1) * size).some((value) => value !== 0),
  );
  for (let i = 0; i < size; i++) {
    for (const k of drawn) {
      const factor = a[i * size + k] ?? 0;
      if (factor === 0) continue;
      for (let j = 0; j < size; j++) {
        out[i * size + j] = (out[i * size + j] ?? 0) + factor * (b[k * size + j] ?? 0);
      }
    }
  }
  return out;
}
