/** Every token has the same weight, so longer sequences weigh more. */
import { choice } from '@saccade/core/settings';
import type { GlobalCounts } from '../algorithm.ts';
import type { Aggregation } from '../choices.ts';
import { maskOver } from '../sequences.ts';
import { owning } from '../unit.ts';

/** Options of means over sequences: which sequences count. */
export interface SequenceOptions {
  /** Whether S, the number of sequences, includes those without a trained token. Default `skip`. */
  readonly emptySequences?: 'skip' | 'count';
}

export const emptySequences = choice(['skip', 'count'], {
  default: 'skip',
  about: 'Whether sequences without a token that trains count in means over sequences.',
});

/** S of the sequence means. */
export function sequencesCounted(counts: GlobalCounts, options: SequenceOptions): number {
  return counts.sequences + (options.emptySequences === 'count' ? (counts.emptySequences ?? 0) : 0);
}

/**
 * Mean over the step's sequences of each sequence's sum over its tokens.
 *
 *   weightₜ = maskₜ / S
 *
 * The policy gradient of REINFORCE for a trajectory, Williams 1992; verl's `seq-mean-token-sum`.
 */
export const sequenceMeanTokenSum = owning(
  { emptySequences },
  (options: SequenceOptions = {}): Aggregation =>
    (lossMask, _, counts) =>
      maskOver(lossMask, sequencesCounted(counts, options)),
);
