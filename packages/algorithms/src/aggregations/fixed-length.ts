/** A constant in place of the length, so that the length of a sequence has no weight. */
import { ConfigError } from '@saccade/core';
import { quantity } from '@saccade/core/settings';
import type { Aggregation } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { maskOver } from '../sequences.ts';
import { owning } from '../unit.ts';
import {
  emptySequences,
  type SequenceOptions,
  sequencesCounted,
} from './sequence-mean-token-sum.ts';

/**
 * Sum over tokens, over the number of sequences and a constant length.
 *
 *   weightₜ = maskₜ / (S · fixedLength)
 *
 * Dr. GRPO, arXiv:2503.20783, where the constant is the generation budget;
 * TRL's `dr_grpo` (S counts all sequences), verl's `seq-mean-token-sum-norm`.
 *
 * @throws ConfigError if fixedLength is not above 0
 */
export const fixedLength = owning(
  {
    fixedLength: quantity({
      min: 0,
      max: LARGEST,
      default: 0,
      unit: 'tokens',
      about: 'The constant length of the aggregation "fixed-length".',
    }),
    emptySequences,
  },
  makeFixedLength,
);

function makeFixedLength(options: SequenceOptions & { readonly fixedLength: number }): Aggregation {
  const { fixedLength: length } = options;
  if (!(length > 0)) {
    throw new ConfigError(
      'fixedLength',
      `The aggregation "fixed-length" needs fixedLength above 0, it is ${length}. ` +
        'Set it to the most tokens a trajectory may have.',
    );
  }
  return (lossMask, _, counts) => maskOver(lossMask, sequencesCounted(counts, options) * length);
}
