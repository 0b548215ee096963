/** Every token weighs the same. */
import type { Aggregation } from '../choices.ts';

/**
 * Mean over all tokens of the step that train.
 *
 *   weightₜ = maskₜ / counts.tokens
 *
 * DAPO, arXiv:2503.14476, eq. 12 (token-level loss).
 */
export function tokenMean(): Aggregation {
  return (lossMask, _, counts) =>
    Float64Array.from(lossMask, (mask) => (mask === 0 ? 0 : mask / counts.tokens));
}
