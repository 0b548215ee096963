/** Cosine and sine tables for the `rotary` op: plain, multimodal (M-RoPE) and 2-D for vision. */
import { expectLength, ShapeError } from '@saccade/core';

/**
 * The cosines and sines of a position embedding, one row per token: operands of the op `rotary`.
 */
export interface RotaryTable {
  /** [T, E] with E = half the head dimension. */
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

/**
 * θ^(−2i/D) for i in [0, D/2), rounded to float32 where torch rounds: one unit in the last place of
 * a frequency is 0.002 rad at position 32767.
 */
function inverseFrequencies(headDim: number, theta: number): Float32Array {
  if (!Number.isInteger(headDim / 2) || headDim <= 0) {
    throw new ShapeError(
      `Rotary embedding rotates pairs: its dimension must be even, got ${headDim}.`,
    );
  }
  return Float32Array.from({ length: headDim / 2 }, (_, i) => {
    return 1 / Math.fround(theta ** Math.fround((2 * i) / headDim));
  });
}

/**
 * The table of `angle`; a token for which `repeats` holds has the angles of the token before it.
 */
function fill(
  tokenCount: number,
  width: number,
  angle: (token: number, i: number) => number,
  repeats: (token: number) => boolean = () => false,
): RotaryTable {
  const cos = new Float32Array(tokenCount * width);
  const sin = new Float32Array(tokenCount * width);
  for (let t = 0; t < tokenCount; t++) {
    if (t > 0 && repeats(t)) {
      for (const table of [cos, sin]) table.copyWithin(t * width, (t - 1) * width, t * width);
      continue;
    }
    for (let i = 0; i < width; i++) {
      // Angles are rounded to float32 first, as the reference implementations compute them.
      const a = Math.fround(angle(t, i));
      cos[t * width + i] = Math.cos(a);
      sin[t * width + i] = Math.sin(a);
    }
  }
  return { cos, sin };
}

/**
 * Rotary embedding: frequency pair i of a token at position p rotates by p·θ^(−2i/D).
 * Su et al. 2021, arXiv:2104.09864, section 3.2.2.
 *
 * @param positions  [T]
 */
export function rotaryTable(positions: Int32Array, headDim: number, theta: number): RotaryTable {
  const frequencies = inverseFrequencies(headDim, theta);
  return fill(positions.length, headDim / 2, (t, i) => {
    return (positions[t] as number) * (frequencies[i] as number);
  });
}

/**
 * Multimodal rotary embedding: each frequency pair rotates by the temporal, height or width
 * position, as `sections` says. Qwen2-VL, arXiv:2409.12191, section 2.1.
 *
 * @param positions  [3, T]: temporal, height, width; equal for text
 * @param sections   frequency pairs that use each position; they sum to headDim/2
 */
export function mropeTable(
  positions: Int32Array,
  headDim: number,
  sections: readonly number[],
  theta: number,
): RotaryTable {
  const width = headDim / 2;
  const total = sections.reduce((sum, section) => sum + section, 0);
  if (sections.length !== 3 || total !== width) {
    throw new ShapeError(
      `M-RoPE sections [${sections.join(', ')}] must be three numbers that sum to ${width}, half of ` +
        `the head dimension ${headDim}.`,
    );
  }
  const tokenCount = positions.length / 3;
  if (!Number.isInteger(tokenCount)) {
    throw new ShapeError(
      `M-RoPE positions must be three rows of equal length, got ${positions.length} numbers.`,
    );
  }
  const axisOf = sections.flatMap((section, axis) => new Array<number>(section).fill(axis));
  const frequencies = inverseFrequencies(headDim, theta);
  const angle = (t: number, i: number): number => {
    const position = positions[(axisOf[i] as number) * tokenCount + t] as number;
    return position * (frequencies[i] as number);
  };
  // Rollouts sampled side by side are mostly at the same position.
  return fill(tokenCount, width, angle, (t) =>
    [t, tokenCount + t, 2 * tokenCount + t].every((i) => positions[i] === positions[i - 1]),
  );
}

/**
 * Two-dimensional rotary embedding of the vision tower: the first half of the pairs rotates by
 * the patch's row, the second half by its column.
 *
 * @param rows     [T] patch rows
 * @param columns  [T] patch columns
 */
export function visionRotaryTable(
  rows: Int32Array,
  columns: Int32Array,
  headDim: number,
  theta: number,
): RotaryTable {
  expectLength('columns', columns.length, rows.length);
  const half = headDim / 4;
  const frequencies = inverseFrequencies(headDim / 2, theta);
  return fill(rows.length, headDim / 2, (t, i) => {
    const position = (i < half ? rows[t] : columns[t]) as number;
    return position * (frequencies[i % half] as number);
  });
}
