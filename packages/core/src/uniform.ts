/** Decides whether numbers differ by more than rounding. */

/** Relative width that counts as rounding: about 4,000 steps of float64, or 8 of float32. */
const RELATIVE = { float64: 2 ** -40, float32: 2 ** -20 };

/** Absolute width that counts as rounding: what sums of terms of the order of 1 leave at 0. */
const ABSOLUTE = 1e-14;

/**
 * Whether all values are equal but for rounding noise.
 *
 *   max(v) − min(v) ≤ max(2⁻⁴⁰ · max|v|, 1e-14),   2⁻²⁰ in place of 2⁻⁴⁰ for a Float32Array
 *
 * `[0.1 + 0.2, 0.3]` is uniform, and so is `[0.1 + 0.2 − 0.3, 0]`. A group of such rewards teaches
 * nothing, and dividing by its deviation would make noise a signal. Fewer than two values are uniform;
 * values with a NaN are not.
 */
export function isUniform(values: ArrayLike<number>): boolean {
  let [smallest, largest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN;
    if (Number.isNaN(value)) return false;
    smallest = Math.min(smallest, value);
    largest = Math.max(largest, value);
  }
  if (values.length < 2 || smallest === largest) return true;
  if (!Number.isFinite(largest - smallest)) return false;
  const relative = values instanceof Float32Array ? RELATIVE.float32 : RELATIVE.float64;
  const magnitude = Math.max(Math.abs(smallest), Math.abs(largest));
  return largest - smallest <= Math.max(relative * magnitude, ABSOLUTE);
}
