/** Every sequence weighs the same, whatever its length. */
import type { Aggregation } from '../choices.ts';

/**
 * Mean over the step's sequences of each sequence's mean over its tokens.
 *
 *   weightₜ = maskₜ / (Σ_{u in the sequence of t} mask_u · counts.sequences)
 *
 * DeepSeekMath, arXiv:2402.03300, eq. 3. Sequences without a token that trains count for nothing.
 * A micro-batch must hold whole sequences.
 */
export function sequenceMeanTokenMean(): Aggregation {
  return (lossMask, sequenceOffsets, counts) => {
    const weights = new Float64Array(lossMask.length);
    for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
      const start = sequenceOffsets[s] as number;
      const end = sequenceOffsets[s + 1] as number;
      let tokens = 0;
      for (let t = start; t < end; t++) tokens += lossMask[t] as number;
      if (tokens === 0) continue;
      for (let t = start; t < end; t++) {
        weights[t] = (lossMask[t] as number) / (tokens * counts.sequences);
      }
    }
    return weights;
  };
}
