/** The rank test of two models on the same tasks. */
import { normalTail } from './normal.ts';
import { pairedDifferences } from './paired-differences.ts';

/** Result of `wilcoxon`. */
export interface WilcoxonTest {
  /** Sum of the ranks of positive differences. */
  readonly positiveRanks: number;
  readonly pValue: number;
  readonly isExact: boolean;
}

/** Differences up to which the exact distribution of ranks is used. */
const MOST_RANKS = 50;

/**
 * Wilcoxon's signed-rank test (1945), two-sided, for scores of which only the order counts, such as
 * ratings. Differences of 0 are left out. Up to 50 differences without ties it is exact; else it is
 * the normal approximation with correction for ties and without one for continuity.
 *
 * @param a [n] scores of one model by task
 * @param b [n] scores of the other
 * @throws ShapeError if the lengths differ
 * @throws DataError for no tasks, or scores that are not finite
 */
export function wilcoxon(a: readonly number[], b: readonly number[]): WilcoxonTest {
  const differences = pairedDifferences(a, b).filter((difference) => difference !== 0);
  const count = differences.length;
  if (count === 0) return { positiveRanks: 0, pValue: 1, isExact: true };
  const { ranks, tieSizes } = rank(differences.map(Math.abs));
  const positiveRanks = differences.reduce(
    (sum, difference, index) => sum + (difference > 0 ? (ranks[index] as number) : 0),
    0,
  );
  const all = (count * (count + 1)) / 2;
  const smaller = Math.min(positiveRanks, all - positiveRanks);
  const isExact = count <= MOST_RANKS && tieSizes.length === 0;
  if (isExact) return { positiveRanks, pValue: rankTail(smaller, count), isExact };
  const tied = tieSizes.reduce((sum, size) => sum + size ** 3 - size, 0);
  const deviation = Math.sqrt((count * (count + 1) * (2 * count + 1)) / 24 - tied / 48);
  const pValue = Math.min(1, 2 * normalTail((all / 2 - smaller) / deviation));
  return { positiveRanks, pValue, isExact };
}

/** 2 P(W ≤ sum), at most 1, where each rank 1 … count is in W like a coin. */
function rankTail(sum: number, count: number): number {
  const all = (count * (count + 1)) / 2;
  // In probabilities, so that 2⁵⁰ sums cost no digits.
  let chances = new Float64Array(all + 1);
  chances[0] = 1;
  for (let own = 1; own <= count; own++) {
    const next = new Float64Array(all + 1);
    for (let at = 0; at <= all; at++) {
      next[at] = ((chances[at] as number) + (at >= own ? (chances[at - own] as number) : 0)) / 2;
    }
    chances = next;
  }
  return Math.min(1, 2 * chances.subarray(0, sum + 1).reduce((total, chance) => total + chance, 0));
}

/** Ranks from 1, the mean of theirs for equal values; sizes of the ties. */
function rank(values: readonly number[]): {
  readonly ranks: Float64Array;
  readonly tieSizes: readonly number[];
} {
  const order = values.map((_, index) => index);
  order.sort((x, y) => (values[x] as number) - (values[y] as number));
  const ranks = new Float64Array(values.length);
  const tieSizes: number[] = [];
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    const value = values[order[start] as number];
    while (end < order.length && values[order[end] as number] === value) end++;
    for (let at = start; at < end; at++) ranks[order[at] as number] = (start + 1 + end) / 2;
    if (end - start > 1) tieSizes.push(end - start);
    start = end;
  }
  return { ranks, tieSizes };
}
