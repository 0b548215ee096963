/** The denominators of a step. */
import type { FloatArray, GlobalCounts } from './algorithm.ts';

/** Counts the tokens that train and the sequences that have one, of a whole step. */
export function countGlobally(
  parts: readonly { readonly lossMask: FloatArray; readonly sequenceOffsets: Int32Array }[],
): GlobalCounts {
  let tokens = 0;
  let sequences = 0;
  for (const { lossMask, sequenceOffsets } of parts) {
    for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
      let own = 0;
      const end = sequenceOffsets[s + 1] as number;
      for (let t = sequenceOffsets[s] as number; t < end; t++) own += lossMask[t] as number;
      tokens += own;
      if (own > 0) sequences++;
    }
  }
  return { tokens, sequences };
}
