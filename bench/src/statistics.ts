/** Statistics of timings: the median, the spread of most of them, and whether two are tied. */

/** Summary of repeated measurements of one thing, in the unit of the measurements. */
export interface Sample {
  readonly median: number;
  /** 20th and 80th percentile: three measurements in five lie between them. */
  readonly p20: number;
  readonly p80: number;
  readonly count: number;
}

/** The middle of the numbers, NaN of none. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The value below which a share of the numbers lies, between neighbors in proportion. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [low, high] = [Math.floor(place), Math.ceil(place)];
  const [below, above] = [sorted[low] ?? Number.NaN, sorted[high] ?? Number.NaN];
  return below + (above - below) * (place - low);
}

export function summarize(numbers: readonly number[]): Sample {
  return {
    median: median(numbers),
    p20: quantile(numbers, 0.2),
    p80: quantile(numbers, 0.8),
    count: numbers.length,
  };
}

/** A ratio of times, and whether it says which of the two is faster. */
export interface Ratio extends Sample {
  /** False where p20–p80 is wider than what the median claims: its distance from 1. */
  readonly isDecided: boolean;
}

/** `1.30`: the first takes 1.3 times as long; both were measured in turns, so pairs belong together. */
export function pairedRatio(times: readonly number[], base: readonly number[]): Ratio {
  return ratioOf(summarize(times.map((time, i) => time / (base[i] ?? Number.NaN))));
}

/** A sample of ratios, with its verdict: `isDecided` if p80 / p20 ≤ max(median, 1 / median). */
export function ratioOf({ median, p20, p80, count }: Sample): Ratio {
  // By factors: that one takes half and that it takes twice the time are claims of the same size.
  const isDecided = p80 / p20 <= Math.max(median, 1 / median);
  return { median, p20, p80, count, isDecided };
}

/** Whether two samples are too wide for the difference between their medians. */
export function isUndecided(a: Sample, b: Sample): boolean {
  const claim = Math.max(a.median / b.median, b.median / a.median);
  return !(Math.max(a.p80 / a.p20, b.p80 / b.p20) <= claim);
}

/** True where two samples differ by less than they spread: neither median is outside the other. */
export function isTie(a: Sample, b: Sample): boolean {
  const isInside = (value: number, of: Sample): boolean => value >= of.p20 && value <= of.p80;
  return isInside(a.median, b) || isInside(b.median, a);
}
