/** No denominator. */
import type { Aggregation } from '../choices.ts';

/**
 * Sum over all tokens that train.
 *
 *   weightₜ = maskₜ
 *
 * Tinker's losses are such sums; the size of the step then scales the gradient.
 */
export function tokenSum(): Aggregation {
  return (lossMask) => Float64Array.from(lossMask);
}
