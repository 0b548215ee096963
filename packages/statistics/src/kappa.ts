/** Agreement of two raters beyond chance. */
import { DataError } from '@saccade/core';
import { expectPairs } from './arguments.ts';
import type { Interval } from './bootstrap.ts';
import { criticalValue } from './normal.ts';

/** How far apart two categories are: `none` for names, the others for an order. */
export type KappaWeights = 'none' | 'linear' | 'quadratic';

/** Settings of `cohenKappa`. */
export interface KappaOptions<Category> {
  /** Default `none`. */
  readonly weights?: KappaWeights;
  /** All categories, in their order. Default: those that occur, in the order of their values. */
  readonly categories?: readonly Category[];
  /** Default 0.95. */
  readonly level?: number;
}

/** Agreement of two raters. */
export interface Kappa {
  /** Absent where both raters used one category for everything: chance alone explains agreement. */
  readonly kappa?: number;
  /** For κ = 0.4 and above 0.6, say, not for κ = 0; may reach beyond −1 and 1. */
  readonly interval?: Interval;
  readonly standardError?: number;
  /** Share of items on which the raters agree; weighted: mean of the weights. */
  readonly agreement: number;
  /** The same if the raters rated independently. */
  readonly expected: number;
  readonly count: number;
}

/**
 * Cohen's κ (1960), weighted κ (1968), with the large-sample standard error of Fleiss, Cohen & Everitt
 * (1969).
 *
 *   κ = (p_o − p_e) / (1 − p_e),   p_o = Σ w_ij p_ij,   p_e = Σ w_ij p_i· p_·j
 *   w_ij = 1 − |i − j| / (m − 1), squared distance for `quadratic`, δ_ij for `none`
 *   Var κ = (Σ p_ij (w_ij − (w̄_i· + w̄_·j)(1 − κ))² − (κ − p_e (1 − κ))²) / (n (1 − p_e)²)
 *
 * Swapping the raters, permuting items and, without weights, renaming categories change nothing.
 *
 * @param first  [n] ratings of one rater
 * @param second [n] ratings of the other, of the same items in the same order
 * @throws ShapeError if the lengths differ
 * @throws DataError for no items, or a rating that is not in `categories`
 */
export function cohenKappa<Category extends string | number>(
  first: readonly Category[],
  second: readonly Category[],
  { weights = 'none', categories, level = 0.95 }: KappaOptions<Category> = {},
): Kappa {
  expectPairs(['first', first], ['second', second]);
  const count = first.length;
  if (count === 0) throw new DataError('first: expected at least one rating, got none.');
  const z = criticalValue(level);
  const names = categories ?? occurring(first, second);
  const table = shares(first, second, names);
  const size = names.length;
  const rows = table.map((row) => row.reduce((sum, share) => sum + share, 0));
  const columns = names.map((_, j) => table.reduce((sum, row) => sum + (row[j] as number), 0));
  const weight = (i: number, j: number): number => {
    if (weights === 'none' || size === 1) return i === j ? 1 : 0;
    const distance = Math.abs(i - j) / (size - 1);
    return 1 - (weights === 'linear' ? distance : distance ** 2);
  };
  const sumOver = (term: (i: number, j: number) => number): number => {
    let sum = 0;
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) sum += term(i, j);
    return sum;
  };
  const at = (i: number, j: number): number => table[i]?.[j] as number;
  const row = (i: number): number => rows[i] as number;
  const column = (j: number): number => columns[j] as number;
  const agreement = sumOver((i, j) => weight(i, j) * at(i, j));
  const expected = sumOver((i, j) => weight(i, j) * row(i) * column(j));
  const isOneCategory = rows.some((share, i) => share === 1 && columns[i] === 1);
  if (isOneCategory) return { agreement: 1, expected: 1, count };
  const kappa = (agreement - expected) / (1 - expected);
  const rowWeights = names.map((_, i) =>
    names.reduce((s, _n, j) => s + weight(i, j) * column(j), 0),
  );
  const columnWeights = names.map((_, j) =>
    names.reduce((s, _n, i) => s + weight(i, j) * row(i), 0),
  );
  // The mean of each item's influence. Squares are summed around it: a difference of two sums of
  // squares leaves 1e-9 of a standard error where it is 0, as for a rater with one category.
  const mean = kappa - expected * (1 - kappa);
  const spread = sumOver((i, j) => {
    const marginal = (rowWeights[i] as number) + (columnWeights[j] as number);
    return at(i, j) * (weight(i, j) - marginal * (1 - kappa) - mean) ** 2;
  });
  const standardError = Math.sqrt(spread / count) / (1 - expected);
  const [low, high] = [kappa - z * standardError, kappa + z * standardError];
  return { kappa, interval: { low, high, level }, standardError, agreement, expected, count };
}

/** Every category that occurs: numbers by size, then texts by their code units. */
function occurring<Category extends string | number>(
  first: readonly Category[],
  second: readonly Category[],
): readonly Category[] {
  const all = [...new Set([...first, ...second])];
  return all.sort((a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a < b ? -1 : 1;
  });
}

/** p_ij: the share of items that the first rater put in i and the second in j. */
function shares<Category extends string | number>(
  first: readonly Category[],
  second: readonly Category[],
  names: readonly Category[],
): readonly (readonly number[])[] {
  const counts = names.map(() => names.map(() => 0));
  const indexOf = (rating: Category): number => {
    const index = names.indexOf(rating);
    if (index >= 0) return index;
    throw new DataError(
      `categories: got the rating ${JSON.stringify(rating)}, expected one of ` +
        `${JSON.stringify(names)}. Add it to categories, or mend the rating.`,
    );
  };
  for (const [at, rating] of first.entries()) {
    const row = counts[indexOf(rating)] as number[];
    const column = indexOf(second[at] as Category);
    row[column] = (row[column] as number) + 1;
  }
  return counts.map((row) => row.map((own) => own / first.length));
}
