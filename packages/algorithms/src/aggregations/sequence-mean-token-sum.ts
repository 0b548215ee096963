/** Every token weighs the same, and longer sequences more. */
import type { GlobalCounts } from '../algorithm.ts';
import type { Aggregation } from '../choices.ts';
import { maskOver } from '../sequences.ts';

export interface SequenceOptions {
  /** Whether sequences without a token that trains are counted in S. Default false. */
  readonly countEmpty?: boolean;
}

/** S of the sequence means. */
export function sequencesCounted(counts: GlobalCounts, options: SequenceOptions): number {
  return counts.sequences + (options.countEmpty ? (counts.emptySequences ?? 0) : 0);
}

/**
 * Mean over the step's sequences of each sequence's sum over its tokens.
 *
 *   weightₜ = maskₜ / S
 *
 * The policy gradient of REINFORCE for a trajectory, Williams 1992; verl's `seq-mean-token-sum`.
 */
export function sequenceMeanTokenSum(options: SequenceOptions = {}): Aggregation {
  return (lossMask, _, counts) => maskOver(lossMask, sequencesCounted(counts, options));
}
