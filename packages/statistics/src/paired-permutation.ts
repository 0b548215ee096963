/** The permutation test of two models on the same tasks. */
import { randomAt } from '@saccade/core';
import { expectCount } from './arguments.ts';
import { pairedDifferences } from './paired-differences.ts';

/** The side on which a difference is looked for: either, or `a` greater or less than `b`. */
export type Alternative = 'two-sided' | 'greater' | 'less';

/** Settings of `pairedPermutation`. */
export interface PermutationOptions {
  /** Default `two-sided`. */
  readonly alternative?: Alternative;
  /** Signs are drawn this often where there are too many to go through all. Default 100,000. */
  readonly resamples?: number;
  /** The same seed gives the same p-value. Default 0. */
  readonly seed?: number;
  /** All 2ⁿ signs are gone through up to this many differences that are not 0, at most 24. Default 16. */
  readonly exactUpTo?: number;
}

/** Result of `pairedPermutation`. */
export interface PermutationTest {
  /** Mean of a − b. */
  readonly difference: number;
  readonly pValue: number;
  /** Whether all signs were gone through. */
  readonly isExact: boolean;
}

const MOST_EXACT = 24;

/**
 * Fisher's sign-flip test: if the models were alike, each task's difference could as well have the
 * other sign.
 *
 *   p = #{signs s : |Σ s_i d_i| ≥ |Σ d_i|} / 2ⁿ,   d = a − b
 *
 * Drawn signs give (1 + hits) / (1 + resamples), which is never 0 (Phipson & Smyth 2010). Neither the
 * order of tasks nor, two-sided, that of the models changes the result.
 *
 * @param a [n] scores of one model, one for each task: the mean of its samples
 * @param b [n] scores of the other, in the same order of tasks
 * @throws ShapeError if the lengths differ
 * @throws DataError for no tasks, or scores that are not finite
 */
export function pairedPermutation(
  a: readonly number[],
  b: readonly number[],
  {
    alternative = 'two-sided',
    resamples = 100_000,
    seed = 0,
    exactUpTo = 16,
  }: PermutationOptions = {},
): PermutationTest {
  const differences = pairedDifferences(a, b);
  expectCount('resamples', resamples, 1);
  expectCount('exactUpTo', exactUpTo, 0, MOST_EXACT);
  const total = differences.reduce((sum, value) => sum + value, 0);
  const sizes = differences.map(Math.abs).filter((size) => size > 0);
  // Sorted, so that the drawn signs meet the same sizes in any order of tasks.
  sizes.sort((x, y) => x - y);
  // Sums of the same numbers in another order differ in the last digits.
  const slack = 1e-12 * sizes.reduce((sum, size) => sum + size, 0);
  const isExtreme = (sum: number): boolean => {
    if (alternative === 'greater') return sum >= total - slack;
    if (alternative === 'less') return sum <= total + slack;
    return Math.abs(sum) >= Math.abs(total) - slack;
  };
  const isExact = sizes.length <= exactUpTo;
  return {
    difference: total / a.length,
    pValue: isExact
      ? exactShare(sizes, isExtreme)
      : drawnShare(sizes, isExtreme, { resamples, seed }),
    isExact,
  };
}

/** Goes through all signs in Gray code: each step changes one. */
function exactShare(sizes: readonly number[], isExtreme: (sum: number) => boolean): number {
  const signs = sizes.map(() => -1);
  let hits = 0;
  const all = 2 ** sizes.length;
  let sum = -sizes.reduce((own, size) => own + size, 0);
  for (let step = 0; ; ) {
    if (isExtreme(sum)) hits++;
    step++;
    if (step === all) return hits / all;
    const flipped = 31 - Math.clz32(step & -step);
    const sign = -(signs[flipped] as number);
    signs[flipped] = sign;
    sum += 2 * sign * (sizes[flipped] as number);
  }
}

function drawnShare(
  sizes: readonly number[],
  isExtreme: (sum: number) => boolean,
  { resamples, seed }: { readonly resamples: number; readonly seed: number },
): number {
  const random = randomAt(seed, 'permutation');
  let hits = 1;
  for (let resample = 0; resample < resamples; resample++) {
    let sum = 0;
    let word = 0;
    for (const [index, size] of sizes.entries()) {
      if (index % 32 === 0) word = random.word();
      sum += word & 1 ? size : -size;
      word >>>= 1;
    }
    if (isExtreme(sum)) hits++;
  }
  return hits / (1 + resamples);
}
