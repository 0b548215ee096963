/** All that a paper says about two models on the same tasks. */
import { expectPairs } from './arguments.ts';
import { type BootstrapOptions, bootstrapMean, type Estimate } from './bootstrap.ts';
import { pairedDifferences } from './paired-differences.ts';
import { pairedPermutation } from './paired-permutation.ts';
import { tasksNeeded } from './power.ts';

/** Settings of `comparePaired`. */
export interface ComparisonOptions extends BootstrapOptions {
  /** Group of each task whose tasks are not independent, such as their image. Default: each its own. */
  readonly clusters?: readonly (string | number)[];
  /** Chance to find the difference, for `tasksNeeded`. Default 0.8. */
  readonly power?: number;
}

/** Result of `comparePaired`. */
export interface PairedComparison {
  /** Mean of a − b, with a bootstrap interval. */
  readonly difference: Estimate;
  /** Of the two-sided sign-flip test; with clusters it flips whole clusters. */
  readonly pValue: number;
  readonly isExact: boolean;
  /** Tasks on which a scores higher, the same, and lower. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /**
   * Clusters (tasks, if there are none) with which a difference of this size would be found. Absent
   * where the models do not differ in the mean, or differ by the same on every task.
   */
  readonly tasksNeeded?: number;
}

/**
 * Compares two models by their scores on the same tasks.
 *
 * @param a [n] mean score of one model's samples, by task
 * @param b [n] of the other's, in the same order of tasks
 * @throws ShapeError if lengths differ
 * @throws DataError for no tasks, or scores that are not finite
 */
export function comparePaired(
  a: readonly number[],
  b: readonly number[],
  { clusters, power, ...options }: ComparisonOptions = {},
): PairedComparison {
  const differences = pairedDifferences(a, b);
  if (clusters !== undefined) expectPairs(['a', a], ['clusters', clusters]);
  const difference = bootstrapMean(differences, clusters, options);
  // A sum for each cluster: flipping its sign flips all of its tasks.
  const sums = new Map<string | number, number>();
  for (const [index, value] of differences.entries()) {
    const name = clusters?.[index] ?? index;
    sums.set(name, (sums.get(name) ?? 0) + value);
  }
  const totals = [...sums.values()];
  const { pValue, isExact } = pairedPermutation(
    totals,
    totals.map(() => 0),
    { ...(options.seed !== undefined && { seed: options.seed }) },
  );
  const needed = needs(totals, {
    ...(options.level && { level: options.level }),
    ...(power && { power }),
  });
  return {
    difference,
    pValue,
    isExact,
    wins: differences.filter((value) => value > 0).length,
    ties: differences.filter((value) => value === 0).length,
    losses: differences.filter((value) => value < 0).length,
    ...(needed !== undefined && { tasksNeeded: needed }),
  };
}

function needs(
  totals: readonly number[],
  options: { readonly level?: number; readonly power?: number },
): number | undefined {
  if (totals.length < 2) return undefined;
  const difference = totals.reduce((sum, value) => sum + value, 0) / totals.length;
  const variance =
    totals.reduce((sum, value) => sum + (value - difference) ** 2, 0) / (totals.length - 1);
  const standardDeviation = Math.sqrt(variance);
  // A difference of rounding alone would ask for 10³⁰ tasks.
  const isNothing = Math.abs(difference) < 1e-9 * standardDeviation;
  if (standardDeviation === 0 || difference === 0 || isNothing) return undefined;
  return tasksNeeded({ difference, standardDeviation, ...options });
}
