/** The layout that `quantizeBlocks` and `dequantizeBlocks` share. */
import type { Random } from '@saccade/core';
import type { Dims, Values } from '../op.ts';

/** Elements that share a scale. */
export const BLOCK = 256;
/** Values that a code can stand for. */
export const CODES = 256;

/** All lengths for N elements. */
export function blockDims(N: number): Dims {
  return { N, T: CODES, W: Math.ceil(N / 4), K: Math.ceil(N / BLOCK) };
}

/** Describes the problem with the lengths in one sentence; undefined if there is none. */
export function checkBlocks({ N, T, W, K }: Dims): string | undefined {
  if (T !== CODES) return `table has ${T} values, expected ${CODES}. Pass one value per code.`;
  const words = Math.ceil(N / 4);
  if (W !== words)
    return `codes has ${W} words, expected ${words}: four of the ${N} codes in each.`;
  const blocks = Math.ceil(N / BLOCK);
  return K === blocks
    ? undefined
    : `scales has ${K} values, expected ${blocks}: one per ${BLOCK} of the ${N} elements.`;
}

/** An ascending table from −1 to 1, any codes, and scales that are positive or 0. */
export function sampleBlocks({ W, K }: Dims, random: Random): Values {
  const inner = Array.from({ length: CODES - 2 }, () => 2 * random.uniform() - 1);
  return {
    table: Float64Array.from([-1, ...inner, 1]).sort(),
    codes: Int32Array.from({ length: W }, () => random.integer(2 ** 32) | 0),
    scales: Float64Array.from({ length: K }, () => random.pick([0, 1, 1, 1]) * random.uniform()),
  };
}
