/** The denominators of a step. */
import type { FloatArray, GlobalCounts } from './algorithm.ts';
import { forEachSequence, trainedIn } from './sequences.ts';

/** Counts the tokens that train and the sequences that have one, or none, of a whole minibatch. */
export function countGlobally(
  parts: readonly { readonly lossMask: FloatArray; readonly sequenceOffsets: Int32Array }[],
): GlobalCounts & { readonly emptySequences: number } {
  let [tokens, sequences, emptySequences] = [0, 0, 0];
  for (const { lossMask, sequenceOffsets } of parts) {
    forEachSequence(sequenceOffsets, (_, start, end) => {
      const own = trainedIn(lossMask, start, end);
      tokens += own;
      if (own > 0) sequences++;
      else emptySequences++;
    });
  }
  return { tokens, sequences, emptySequences };
}
