/** Error measures between a kernel's results and the oracle's; NaN never passes. */
import type { OutputOperand, Values } from './op.ts';

/**
 * ‖got − expected‖ / max(‖expected‖, floor·√n), Frobenius norms.
 *
 * The floor is a root mean square below which a value counts as zero: the gradient of a softmax
 * over one key is exactly 0, and float32 yields rounding error.
 *
 * @returns Infinity if an element is NaN, or infinite where the other is not the same infinity
 */
export function relativeError(
  got: ArrayLike<number>,
  expected: ArrayLike<number>,
  floor = 0,
): number {
  let difference = 0;
  let norm = 0;
  for (let i = 0; i < expected.length; i++) {
    if (isSameInfinity(got[i], expected[i])) continue;
    difference += (got[i] - expected[i]) ** 2;
    norm += expected[i] ** 2;
  }
  if (got.length !== expected.length || !Number.isFinite(difference)) return Infinity;
  const scale = Math.max(Math.sqrt(norm), floor * Math.sqrt(expected.length));
  return difference === 0 ? 0 : Math.sqrt(difference) / (scale === 0 ? 1 : scale);
}

/** The largest |got − expected|; Infinity under the same conditions as {@link relativeError}. */
export function absoluteError(got: ArrayLike<number>, expected: ArrayLike<number>): number {
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    if (isSameInfinity(got[i], expected[i])) continue;
    const difference = Math.abs(got[i] - expected[i]);
    if (!Number.isFinite(difference)) return Infinity;
    worst = Math.max(worst, difference);
  }
  return got.length === expected.length ? worst : Infinity;
}

/** The error of one output, by the measure its op declares; integers differ by Infinity. */
export function outputError(
  operand: OutputOperand,
  got: ArrayLike<number>,
  expected: Values[string],
): number {
  if (expected instanceof Int32Array) return absoluteError(got, expected) === 0 ? 0 : Infinity;
  return operand.measure === 'absolute'
    ? absoluteError(got, expected)
    : relativeError(got, expected);
}

/** Index of the first element whose bits differ, or −1. */
export function firstDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Math.min(a.length, b.length);
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return i;
  return -1;
}

function isSameInfinity(a: number, b: number): boolean {
  return a === b && Math.abs(a) === Infinity;
}
