/** Takes one sequence out of a packed batch, as the same problem on its own. */
import type { Random } from '@saccade/core';
import type { Dims, Part, Scalars, Values } from '@saccade/ops';
import { pathTo, segmentAt } from './segments.ts';

/**
 * The tokens of one random segment and of its ancestors, as a separate problem.
 *
 * Causal attention gets them as one unbroken sequence or as a chain of segments, at random. Both
 * must give the same as the packed layout with its shared prefixes.
 */
export function pathPart(inputs: Values, dims: Dims, { causal }: Scalars, random: Random): Part {
  const { H, G, D, S, T } = dims;
  const segments = inputs.segments as Int32Array;
  const path = pathTo(segments, random.integer(S));
  const tokens: number[] = [];
  const chain: number[] = [];
  path.forEach((segment, depth) => {
    const { start, end } = segmentAt(segments, segment);
    chain.push(tokens.length, tokens.length + end - start, depth - 1);
    for (let t = start; t < end; t++) tokens.push(t);
  });
  const isOneSequence = causal !== 0 && random.integer(2) === 0;
  const own = isOneSequence ? [0, tokens.length, -1] : chain;
  const queries = rowsOf(tokens, H * D);
  const keys = rowsOf(tokens, G * D);
  const lse = Array.from({ length: H }, (_, h) => tokens.map((t) => h * T + t)).flat();
  return {
    dims: { ...dims, T: tokens.length, S: own.length / 3 },
    indices: { segments: Int32Array.from(own) },
    inputs: { q: queries, k: keys, v: keys },
    outputs: { out: queries, lse: Int32Array.from(lse) },
  };
}

/** Flat indices of the elements of given rows. */
export function rowsOf(rows: readonly number[], width: number): Int32Array {
  return Int32Array.from({ length: rows.length * width }, (_, i) => {
    const row = rows[Math.floor(i / width)];
    return row * width + (i % width);
  });
}
