/** p-values of many comparisons. */
import { ConfigError } from '@saccade/core';

/**
 * p-values adjusted for the number of comparisons (Holm 1979): the chance that any of those below α is
 * there by accident is at most α.
 *
 *   p̃₍ᵢ₎ = max_{j ≤ i} min(1, (m − j + 1) p₍ⱼ₎)
 *
 * @param pValues [m] in any order
 * @returns       [m] in the same order
 * @throws ConfigError for anything but numbers from 0 to 1
 */
export function holm(pValues: readonly number[]): readonly number[] {
  const wrong = pValues.findIndex((value) => !(value >= 0 && value <= 1));
  if (wrong >= 0) {
    throw new ConfigError(
      `pValues[${wrong}]`,
      `pValues[${wrong}]: expected a number from 0 to 1, got ${pValues[wrong]}.`,
    );
  }
  const order = pValues.map((_, index) => index);
  order.sort((a, b) => (pValues[a] as number) - (pValues[b] as number));
  const adjusted = new Array<number>(pValues.length).fill(1);
  let largest = 0;
  for (const [rank, index] of order.entries()) {
    const own = Math.min(1, (pValues.length - rank) * (pValues[index] as number));
    largest = Math.max(largest, own);
    adjusted[index] = largest;
  }
  return adjusted;
}
