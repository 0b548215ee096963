/** Cosine and sine tables for the `rotary` op: plain, multimodal (M-RoPE) and 2-D for vision. */
import { type DType, expectLength, ShapeError } from '@saccade/core';
import { inverseFrequencies, type RotaryScaling } from './rotary-frequencies.ts';

/** The element type of angles for activations of a type: never 16 bits, which would turn by steps. */
export function angleDtype(activations: DType): 'f32' | 'f64' {
  return activations === 'f64' ? 'f64' : 'f32';
}

/**
 * The cosines and sines of a position embedding, one row per token: operands of the op `rotary`.
 */
export interface RotaryTable {
  /** [T, E] with E = half the head dimension. */
  readonly cos: Float32Array;
  readonly sin: Float32Array;
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
export function rotaryTable(
  positions: Int32Array,
  headDim: number,
  theta: number,
  scaling?: RotaryScaling,
): RotaryTable {
  const frequencies = inverseFrequencies(headDim, theta, scaling);
  return fill(positions.length, headDim / 2, (t, i) => {
    return (positions[t] as number) * (frequencies[i] as number);
  });
}

/**
 * Multimodal rotary embedding: each frequency pair rotates by the temporal, height or width
 * position, as `sections` says. The sections follow one another (Qwen2-VL, arXiv:2409.12191,
 * section 2.1), or are interleaved: pair 3i+1 turns by height and pair 3i+2 by width as long as
 * their sections last, every other pair by time (Qwen3-VL, arXiv:2511.21631).
 *
 * @param positions  [3, T]: temporal, height, width; equal for text
 * @param sections   frequency pairs that use each position; they sum to headDim/2
 * @throws ShapeError if the sections do not fill the head, or positions are not three rows
 */
export function mropeTable(
  positions: Int32Array,
  headDim: number,
  sections: readonly number[],
  theta: number,
  { isInterleaved = false }: { readonly isInterleaved?: boolean } = {},
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
  const axisOf = isInterleaved
    ? Array.from({ length: width }, (_, i) => (i < 3 * (sections[i % 3] as number) ? i % 3 : 0))
    : sections.flatMap((section, axis) => new Array<number>(section).fill(axis));
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
