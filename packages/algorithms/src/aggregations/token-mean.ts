/** Every token has the same weight. */
import type { Aggregation } from '../choices.ts';
import { maskOver } from '../sequences.ts';

/**
 * Mean over all tokens of the step that train.
 *
 *   weightₜ = maskₜ / counts.tokens
 *
 * DAPO, arXiv:2503.14476, eq. 12 (token-level loss).
 */
export function tokenMean(): Aggregation {
  return (lossMask, _, counts) => maskOver(lossMask, counts.tokens);
}
