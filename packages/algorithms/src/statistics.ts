/** Means and deviations, exact where all values are equal. */
import type { FloatArray } from './algorithm.ts';

/**
 * Arithmetic mean. Equal values give exactly that value: rounding must not make a uniform group
 * look mixed.
 */
export function meanOf(values: ArrayLike<number>): number {
  const first = values[0] ?? 0;
  let excess = 0;
  for (let i = 0; i < values.length; i++) excess += (values[i] as number) - first;
  return first + excess / Math.max(values.length, 1);
}

/** Standard deviation with denominator n − ddof, 0 for fewer than two values. */
export function stdOf(values: ArrayLike<number>, ddof: number): number {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += ((values[i] as number) - mean) ** 2;
  return Math.sqrt(squares / (values.length - ddof));
}

/** value / (std + epsilon), and 0 where both std and epsilon are 0. */
export function over(value: number, std: number, epsilon: number): number {
  return std + epsilon === 0 ? 0 : value / (std + epsilon);
}

/**
 * Values made to have mean 0 and variance 1 over the tokens that train.
 *
 *   (v − mean(v)) / √(var(v) + 1e-8),   var with denominator n − 1
 *
 * verl's `masked_whiten`, whose means have a count of n + countEpsilon. Fewer than two tokens, or
 * equal values, give 0.
 *
 * @returns [N] 0 where the mask is 0
 */
export function whiten(
  values: FloatArray,
  lossMask: FloatArray,
  countEpsilon: number,
): Float64Array {
  const trained = Float64Array.from(values).filter((_, t) => lossMask[t] !== 0);
  const count = trained.length;
  if (count < 2 || trained.every((value) => value === trained[0])) {
    return new Float64Array(values.length);
  }
  const divisor = count + countEpsilon;
  const mean = trained.reduce((sum, value) => sum + value, 0) / divisor;
  const squares = trained.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const variance = ((squares / divisor) * count) / (count - 1);
  const scale = 1 / Math.sqrt(variance + 1e-8);
  return Float64Array.from(values, (value, t) => (lossMask[t] === 0 ? 0 : (value - mean) * scale));
}
