/** Shares of yes among yes and no, and of wins among comparisons. */
import { expectCount } from './arguments.ts';
import { type BootstrapOptions, bootstrapMean, type Estimate, type Interval } from './bootstrap.ts';
import { mcnemar } from './mcnemar.ts';
import { criticalValue } from './normal.ts';

/** A share with Wilson's interval. */
export interface Proportion extends Interval {
  readonly estimate: number;
  readonly successes: number;
  readonly count: number;
}

/**
 * The share of successes with Wilson's score interval (1927), which stays within 0 … 1 and is good for
 * few trials and for shares close to 0 or 1, unlike estimate ± 1.96 standard errors.
 *
 *   (p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n)
 *
 * Trials have to be independent; for several samples of one task use `bootstrapMean`.
 *
 * @param level default 0.95
 * @throws ConfigError for anything but counts with successes ≤ count and count ≥ 1
 */
export function wilson(successes: number, count: number, level = 0.95): Proportion {
  expectCount('count', count, 1);
  expectCount('successes', successes, 0, count);
  const z = criticalValue(level);
  const share = successes / count;
  const center = share + z ** 2 / (2 * count);
  const half = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  const scale = 1 + z ** 2 / count;
  return {
    estimate: share,
    // Exactly 0 and 1 at the ends, where rounding would leave 1e-18.
    low: successes === 0 ? 0 : (center - half) / scale,
    high: successes === count ? 1 : (center + half) / scale,
    level,
    successes,
    count,
  };
}

/** The outcome of one comparison of two models, seen from the first. */
export type Preference = 'win' | 'tie' | 'loss';

/** Result of `winRate`. */
export interface WinRate extends Estimate {
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Of the sign test over comparisons without ties. It takes comparisons as independent. */
  readonly pValue: number;
}

/**
 * How often the first of two models is preferred. A tie counts half; the interval is a bootstrap over
 * clusters.
 *
 *   win rate = (wins + ½ ties) / comparisons
 *
 * @param preferences at least one
 * @param clusters of each comparison, such as its task; undefined: each is its own
 * @throws DataError for no comparisons
 */
export function winRate(
  preferences: readonly Preference[],
  clusters?: readonly (string | number)[],
  options: BootstrapOptions = {},
): WinRate {
  const score = { win: 1, tie: 0.5, loss: 0 };
  const count = (which: Preference): number =>
    preferences.filter((preference) => preference === which).length;
  const estimate = bootstrapMean(
    preferences.map((preference) => score[preference]),
    clusters,
    options,
  );
  const [wins, ties, losses] = [count('win'), count('tie'), count('loss')];
  return { ...estimate, wins, ties, losses, pValue: mcnemar(wins, losses) };
}
