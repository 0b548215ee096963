/** A small step for tests: four sequences of two tokens in two groups. */
import type { Step } from './algorithm.ts';

export function smallStep(changes: Partial<Step> = {}): Step {
  return {
    sequenceOffsets: Int32Array.of(0, 2, 4, 6, 8),
    lossMask: new Float64Array(8).fill(1),
    groups: Int32Array.of(0, 0, 1, 1),
    sequenceAdvantages: Float64Array.of(1, -1, 0.5, -0.5),
    rewards: Float64Array.of(1, 0, 1, 0),
    ...changes,
  };
}

export function numbers(values: ArrayLike<number>, digits = 12): number[] {
  return Array.from(values, (value) => Number(value.toFixed(digits)) + 0);
}
