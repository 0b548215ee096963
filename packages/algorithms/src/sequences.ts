/** Walking over the sequences of a flat batch. */
import type { FloatArray } from './algorithm.ts';

/** Calls `visit` with every sequence's index, first token and end. */
export function forEachSequence(
  sequenceOffsets: Int32Array,
  visit: (sequence: number, start: number, end: number) => void,
): void {
  for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
    visit(s, sequenceOffsets[s] as number, sequenceOffsets[s + 1] as number);
  }
}

/** Tokens of [start, end) that train. */
export function trainedIn(lossMask: FloatArray, start: number, end: number): number {
  let count = 0;
  for (let t = start; t < end; t++) count += lossMask[t] as number;
  return count;
}

/** [S] tokens of each sequence that train. */
export function trainedCounts(lossMask: FloatArray, sequenceOffsets: Int32Array): Float64Array {
  const counts = new Float64Array(Math.max(sequenceOffsets.length - 1, 0));
  forEachSequence(sequenceOffsets, (s, start, end) => {
    counts[s] = trainedIn(lossMask, start, end);
  });
  return counts;
}

/** The indices of the sequences of each group, groups in the order of their first sequence. */
export function membersByGroup(groups: Int32Array): readonly (readonly number[])[] {
  const members = new Map<number, number[]>();
  groups.forEach((group, s) => {
    const known = members.get(group);
    if (known) known.push(s);
    else members.set(group, [s]);
  });
  return [...members.values()];
}

/** [N] mask / divisor, 0 where the mask is 0 whatever the divisor. */
export function maskOver(lossMask: FloatArray, divisor: number): Float64Array {
  const weights = new Float64Array(lossMask.length);
  for (let t = 0; t < weights.length; t++) {
    const mask = lossMask[t] as number;
    if (mask !== 0) weights[t] = mask / divisor;
  }
  return weights;
}
