/** No denominator. */
import type { Aggregation } from '../choices.ts';

/**
 * Sum over all tokens that train.
 *
 *   weightₜ = maskₜ
 */
export function tokenSum(): Aggregation {
  return (lossMask) => Float64Array.from(lossMask);
}
