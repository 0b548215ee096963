/** Means and deviations, exact where all values are equal but for rounding noise. */
import { isUniform } from '@saccade/core';
import type { FloatArray } from './algorithm.ts';

/**
 * Arithmetic mean. Equal values give exactly that value.
 */
export function meanOf(values: ArrayLike<number>): number {
  const first = values[0] ?? 0;
  let excess = 0;
  for (let i = 0; i < values.length; i++) excess += (values[i] as number) - first;
  return first + excess / Math.max(values.length, 1);
}

/** [n] each value minus the mean; exactly 0 where the values differ only by rounding noise. */
export function deviations(values: FloatArray): Float64Array {
  if (isUniform(values)) return new Float64Array(values.length);
  const mean = meanOf(values);
  return Float64Array.from(values, (value) => value - mean);
}

/** Standard deviation with denominator n − ddof, 0 where the values differ only by rounding noise. */
export function stdOf(values: ArrayLike<number>, ddof: number): number {
  if (isUniform(values)) return 0;
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
 * Shifts and scales values to mean 0 and variance 1 over the tokens that train.
 *
 *   (v − mean(v)) / √(var(v) + 1e-8),   var with denominator n − 1
 *
 * verl's `masked_whiten`, whose means have a count of n + countEpsilon. Fewer than two tokens, or
 * values that differ only by rounding noise, give 0.
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
  if (isUniform(trained)) {
    return new Float64Array(values.length);
  }
  const divisor = count + countEpsilon;
  const mean = trained.reduce((sum, value) => sum + value, 0) / divisor;
  const squares = trained.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const variance = ((squares / divisor) * count) / (count - 1);
  const scale = 1 / Math.sqrt(variance + 1e-8);
  return Float64Array.from(values, (value, t) => (lossMask[t] === 0 ? 0 : (value - mean) * scale));
}
