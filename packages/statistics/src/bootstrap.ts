/** Intervals by resampling whole clusters, so that samples of one task never pass for tasks. */
import { DataError, randomAt } from '@saccade/core';
import { expectCount, expectPairs, expectShare, expectValues } from './arguments.ts';
import { normalCdf, normalQuantile } from './normal.ts';

/** A range that covers the true value with the probability `level`. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** Between 0 and 1, such as 0.95. */
  readonly level: number;
}

/** A number with its uncertainty. */
export interface Estimate extends Interval {
  readonly estimate: number;
  /** Standard deviation of the resampled estimates. */
  readonly standardError: number;
  /** Independent units, such as tasks. */
  readonly clusterCount: number;
}

/** How an interval is drawn. */
export interface BootstrapOptions {
  /** The same seed gives the same interval. Default 0. */
  readonly seed?: number;
  /** Default 10,000. */
  readonly resamples?: number;
  /** Default 0.95. */
  readonly level?: number;
  /**
   * `percentile`: quantiles of the resampled estimates. `bca`: corrected for bias and skewness
   * (Efron 1987), better for few clusters and for shares close to 0 or 1. Default `percentile`.
   */
  readonly method?: 'percentile' | 'bca';
}

/**
 * The mean of values with a bootstrap interval over clusters (Davison & Hinkley 1997, §3.8): clusters
 * are drawn with replacement, each with all of its values.
 *
 *   θ* = Σ_{c ∈ resample} (sum of c) / Σ_{c ∈ resample} (size of c)
 *
 * The order of values and the names of clusters change nothing.
 *
 * @param values   [n] finite numbers, such as the scores of samples
 * @param clusters [n] of each value, such as the id of its task; undefined: each value is its own
 * @throws ShapeError if the lengths differ
 * @throws DataError for no values, or values that are not finite
 * @throws ConfigError for an option out of its range
 */
export function bootstrapMean(
  values: readonly number[],
  clusters?: readonly (string | number)[],
  options: BootstrapOptions = {},
): Estimate {
  expectValues('values', values);
  if (clusters !== undefined) expectPairs(['values', values], ['clusters', clusters]);
  const { sums, sizes } = clusterSums(values, clusters);
  return bootstrap(
    sums.length,
    (indices) => {
      let [sum, size] = [0, 0];
      for (const index of indices) {
        sum += sums[index] as number;
        size += sizes[index] as number;
      }
      return sum / size;
    },
    options,
  );
}

/**
 * A statistic of clusters with a bootstrap interval: percentiles, or bias-corrected and accelerated.
 *
 * @param clusterCount  independent units, at least 1
 * @param statistic     of the clusters at these indices, which may repeat; called for all of them
 *   once, then for every resample. The array is reused
 * @throws DataError if the statistic is not finite for a resample
 * @throws ConfigError for an option out of its range
 */
export function bootstrap(
  clusterCount: number,
  statistic: (indices: Uint32Array) => number,
  { seed = 0, resamples = 10_000, level = 0.95, method = 'percentile' }: BootstrapOptions = {},
): Estimate {
  expectCount('clusterCount', clusterCount, 1);
  expectCount('resamples', resamples, 2);
  expectShare('level', level);
  const measure = (indices: Uint32Array): number => {
    const value = statistic(indices);
    if (Number.isFinite(value)) return value;
    throw new DataError(
      `statistic: expected a finite number for every resample, got ${value} for one of ` +
        `${indices.length} clusters. Leave out clusters that have no value, or give them one.`,
    );
  };
  const indices = Uint32Array.from({ length: clusterCount }, (_, index) => index);
  const estimate = measure(indices);
  const random = randomAt(seed, 'bootstrap');
  const estimates = new Float64Array(resamples);
  for (let resample = 0; resample < resamples; resample++) {
    for (let i = 0; i < clusterCount; i++) indices[i] = random.integer(clusterCount);
    estimates[resample] = measure(indices);
  }
  estimates.sort();
  const shares = [(1 - level) / 2, (1 + level) / 2] as const;
  const corrected =
    method === 'bca'
      ? correctedShares(shares, { estimate, estimates, clusterCount, measure })
      : shares;
  const [low, high] = corrected.map((share) => quantile(estimates, share)) as [number, number];
  return {
    estimate,
    low,
    high,
    level,
    standardError: Math.sqrt(variance(estimates)),
    clusterCount,
  };
}

/** Sums and sizes of clusters, in an order that depends on nothing but the numbers. */
function clusterSums(
  values: readonly number[],
  clusters: readonly (string | number)[] | undefined,
): { readonly sums: Float64Array; readonly sizes: Float64Array } {
  const groups = new Map<string | number, number[]>();
  for (const [index, value] of values.entries()) {
    const name = clusters?.[index] ?? index;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [value]);
    else group.push(value);
  }
  const summed = [...groups.values()].map((group) => ({
    // Sorted, since the sum of floating-point numbers depends on their order.
    sum: group.sort((a, b) => a - b).reduce((sum, value) => sum + value, 0),
    size: group.length,
  }));
  summed.sort((a, b) => a.sum - b.sum || a.size - b.size);
  return {
    sums: Float64Array.from(summed, ({ sum }) => sum),
    sizes: Float64Array.from(summed, ({ size }) => size),
  };
}

/** Linear interpolation between order statistics: type 7 of Hyndman & Fan, numpy's default. */
function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (at - below) * (high - low);
}

/** Unbiased: divided by n − 1. */
function variance(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}

interface Resampled {
  readonly estimate: number;
  readonly estimates: Float64Array;
  readonly clusterCount: number;
  readonly measure: (indices: Uint32Array) => number;
}

/**
 * The shares at which BCa reads the resampled estimates (Efron 1987, eq. 2.3):
 *
 *   α' = Φ(z₀ + (z₀ + z_α) / (1 − a (z₀ + z_α)))
 *
 * z₀ is the bias of the median, a the skewness of the jackknife over clusters. Where all resamples lie
 * on one side, or leaving out a cluster changes nothing, there is nothing to correct by.
 */
function correctedShares(
  shares: readonly [number, number],
  { estimate, estimates, clusterCount, measure }: Resampled,
): readonly [number, number] {
  let below = 0;
  // Half of those that tie, as scipy counts.
  for (const value of estimates) below += value < estimate ? 1 : value === estimate ? 0.5 : 0;
  const share = below / estimates.length;
  if (share === 0 || share === 1 || clusterCount < 2) return shares;
  const bias = normalQuantile(share);
  const acceleration = jackknifeAcceleration(clusterCount, measure);
  return shares.map((one) => {
    const z = bias + normalQuantile(one);
    return normalCdf(bias + z / (1 - acceleration * z));
  }) as unknown as readonly [number, number];
}

/** a = Σ (θ̄ − θ₍ᵢ₎)³ / (6 (Σ (θ̄ − θ₍ᵢ₎)²)^{3/2}); θ₍ᵢ₎ leaves out cluster i. */
function jackknifeAcceleration(
  clusterCount: number,
  measure: (indices: Uint32Array) => number,
): number {
  const without = Float64Array.from({ length: clusterCount }, (_, left) =>
    measure(Uint32Array.from({ length: clusterCount - 1 }, (_, i) => (i < left ? i : i + 1))),
  );
  const mean = without.reduce((sum, value) => sum + value, 0) / clusterCount;
  const moment = (power: number): number =>
    without.reduce((sum, value) => sum + (mean - value) ** power, 0);
  const second = moment(2);
  return second === 0 ? 0 : moment(3) / (6 * second ** 1.5);
}
