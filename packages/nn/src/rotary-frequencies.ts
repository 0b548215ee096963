/** How fast each pair of a rotary embedding turns, plain or stretched to longer contexts. */
import { ShapeError } from '@saccade/core';

/** Changes of the frequencies with which a model reads longer contexts than it was first trained on. */
export type RotaryScaling =
  /** All frequencies divided by `factor`. Chen et al. 2023, arXiv:2306.15595. */
  | { readonly kind: 'linear'; readonly factor: number }
  /**
   * Frequencies that turn fewer than `low` times within `positions` are divided by `factor`, those
   * that turn more than `high` times are kept, and those between are mixed. Llama 3.1.
   */
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly low: number;
      readonly high: number;
      readonly positions: number;
    };

/**
 * θ^(−2i/D) for i in [0, D/2), rounded to float32 where torch rounds: one unit in the last place of
 * a frequency is 0.002 rad at position 32767.
 *
 * @throws ShapeError if the dimension is odd
 */
export function inverseFrequencies(
  headDim: number,
  theta: number,
  scaling?: RotaryScaling,
): Float32Array {
  if (!Number.isInteger(headDim / 2) || headDim <= 0) {
    throw new ShapeError(
      `Rotary embedding rotates pairs: its dimension must be even, got ${headDim}.`,
    );
  }
  const plain = Float32Array.from({ length: headDim / 2 }, (_, i) => {
    return 1 / Math.fround(theta ** Math.fround((2 * i) / headDim));
  });
  return scaling === undefined ? plain : plain.map((frequency) => scaled(frequency, scaling));
}

function scaled(frequency: number, scaling: RotaryScaling): number {
  const slow = frequency / scaling.factor;
  if (scaling.kind === 'linear') return slow;
  const { low, high, positions } = scaling;
  const turns = (positions * frequency) / (2 * Math.PI);
  if (turns < low) return slow;
  if (turns > high) return frequency;
  const share = (turns - low) / (high - low);
  return (1 - share) * slow + share * frequency;
}
