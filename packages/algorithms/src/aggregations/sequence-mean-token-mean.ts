/** Every sequence has the same weight, whatever its length. */
import type { Aggregation } from '../choices.ts';
import { lengthEpsilon as lengthEpsilonField } from '../fields.ts';
import { forEachSequence, trainedIn } from '../sequences.ts';
import { owning } from '../unit.ts';
import {
  emptySequences,
  type SequenceOptions,
  sequencesCounted,
} from './sequence-mean-token-sum.ts';

/**
 * Mean over the step's sequences of each sequence's mean over its tokens.
 *
 *   weightₜ = maskₜ / ((Σ_{u in the sequence of t} mask_u + lengthEpsilon) · S)
 *
 * DeepSeekMath, arXiv:2402.03300, eq. 3. A micro-batch must hold whole sequences. S counts the
 * sequences with a token that trains, as in verl, or all of them, as in TRL; verl adds 1e-8 to the
 * length.
 */
export const sequenceMeanTokenMean = owning(
  { lengthEpsilon: lengthEpsilonField, emptySequences },
  makeSequenceMeanTokenMean,
);

function makeSequenceMeanTokenMean(
  options: SequenceOptions & { lengthEpsilon?: number } = {},
): Aggregation {
  const { lengthEpsilon = 0 } = options;
  return (lossMask, sequenceOffsets, counts) => {
    const sequences = sequencesCounted(counts, options);
    const weights = new Float64Array(lossMask.length);
    forEachSequence(sequenceOffsets, (_, start, end) => {
      const tokens = trainedIn(lossMask, start, end);
      if (tokens === 0) return;
      const divisor = (tokens + lengthEpsilon) * sequences;
      for (let t = start; t < end; t++) weights[t] = (lossMask[t] as number) / divisor;
    });
    return weights;
  };
}
