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

/** `1.30`: the first takes 1.3 times as long; both were measured in turns, so pairs belong together. */
export function pairedRatio(times: readonly number[], base: readonly number[]): Sample {
  return summarize(times.map((time, i) => time / (base[i] ?? Number.NaN)));
}

/** True where two samples differ by less than they spread: neither median is outside the other. */
export function isTie(a: Sample, b: Sample): boolean {
  const isInside = (value: number, of: Sample): boolean => value >= of.p20 && value <= of.p80;
  return isInside(a.median, b) || isInside(b.median, a);
}
