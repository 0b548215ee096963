/** Computes the mask rule's bounds of every token from the segments of a plan. */

export interface Forest {
  /** By key token: the first token that may see it if the mask is not causal. */
  readonly start: Float32Array;
  /** By key token: the end of those that may see it. */
  readonly kvEnd: Float32Array;
  /** By token: its distance from the root. */
  readonly position: Float32Array;
}

/**
 * Reads segments [S, 3] of start, end and parent or −1, over T tokens.
 *
 * @throws RangeError if they do not tile the tokens in depth-first pre-order
 */
export function readForest(segments: Int32Array, T: number): Forest {
  const count = segments.length / 3;
  const at = (s: number, column: number): number => segments[3 * s + column] as number;
  const ends = Int32Array.from({ length: count }, (_, s) => at(s, 1));
  const before = new Int32Array(count);
  let expected = 0;
  for (let s = 0; s < count; s++) {
    const [start, end, parent] = [at(s, 0), at(s, 1), at(s, 2)];
    if (start !== expected || end < start || end > T) {
      throw new RangeError(
        `segment ${s} spans [${start}, ${end}), expected a start of ${expected} and an end ` +
          `within ${T} tokens. Segments must tile the tokens in order.`,
      );
    }
    let ancestor = s - 1;
    while (ancestor >= 0 && ancestor !== parent) ancestor = at(ancestor, 2);
    if (parent < -1 || parent !== ancestor) {
      throw new RangeError(
        `segment ${s} has parent ${parent}, which is not on the path to the segment before it. ` +
          'List segments in depth-first pre-order.',
      );
    }
    if (parent >= 0) before[s] = (before[parent] as number) + at(parent, 1) - at(parent, 0);
    expected = end;
  }
  if (expected !== T) {
    throw new RangeError(
      `segments end at ${expected} of ${T} tokens. Segments must tile all tokens.`,
    );
  }
  // Children come after their parents, so walking backwards every child is complete.
  for (let s = count - 1; s >= 0; s--) {
    const parent = at(s, 2);
    if (parent >= 0) ends[parent] = Math.max(ends[parent] as number, ends[s] as number);
  }
  const forest = {
    start: new Float32Array(T),
    kvEnd: new Float32Array(T),
    position: new Float32Array(T),
  };
  for (let s = 0; s < count; s++) {
    const [start, end] = [at(s, 0), at(s, 1)];
    forest.start.fill(start, start, end);
    forest.kvEnd.fill(ends[s] as number, start, end);
    for (let t = start; t < end; t++) forest.position[t] = (before[s] as number) + t - start;
  }
  return forest;
}
