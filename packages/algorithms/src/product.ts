/** Multiplies factors, one of which may have overflowed. */

/**
 * a · b, and 0 where either is 0.
 *
 * A ratio can overflow to Infinity where its derivative or its weight is exactly 0. The product is
 * then 0, not NaN.
 */
export function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}
