/** Every token gets its sequence's advantage. */
import type { FloatArray, Step } from '../algorithm.ts';
import type { TokenAdvantage } from '../choices.ts';
import { forEachSequence } from '../sequences.ts';

/**
 * The sequence's advantage at each of its tokens that train.
 *
 *   Aₜ = A_sequence
 *
 * DeepSeekMath, arXiv:2402.03300, §4.1.2 (outcome supervision).
 */
export function broadcast(): TokenAdvantage {
  return (step) => ({ advantages: broadcastOver(step, step.sequenceAdvantages) });
}

/** [S] → [N], 0 where the mask is 0. */
export function broadcastOver(
  { lossMask, sequenceOffsets }: Pick<Step, 'lossMask' | 'sequenceOffsets'>,
  values: FloatArray,
): Float64Array {
  const spread = new Float64Array(lossMask.length);
  forEachSequence(sequenceOffsets, (s, start, end) => {
    for (let t = start; t < end; t++) {
      if (lossMask[t] !== 0) spread[t] = values[s] as number;
    }
  });
  return spread;
}
