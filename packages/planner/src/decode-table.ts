/** Decoding speed of an engine by how many sequences it decodes at a time. */

/** Sequences at a time, and tokens per second over all of them. */
export type DecodePoint = readonly [sequences: number, tokensPerSecond: number];

/**
 * Tokens per second over n sequences that are decoded together.
 *
 * What is measured are points (n, r). A pass takes n / r(n) seconds, and that, not r, is close to
 * linear in n: a pass reads the weights once and then works for each row. So seconds of a pass are
 * interpolated linearly in n,
 *
 *   r(n) = n / t(n),   t(n) = t_i + (t_{i+1} − t_i) · (n − n_i) / (n_{i+1} − n_i),   t_i = n_i / r_i
 *
 * Below the first point t stays t_1; above the last it grows by the slope of the last two points,
 * or, with one point, as if r stayed what it is.
 */
export function decodeSpeed(table: readonly DecodePoint[]): (sequences: number) => number {
  const points = [...table].sort((a, b) => a[0] - b[0]).map(([n, r]) => ({ n, seconds: n / r }));
  return (sequences) => sequences / passSeconds(points, sequences);
}

interface PassPoint {
  readonly n: number;
  readonly seconds: number;
}

function passSeconds(points: readonly PassPoint[], n: number): number {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return Number.POSITIVE_INFINITY;
  if (n <= first.n) return first.seconds;
  if (n > last.n) {
    const before = points.at(-2);
    if (before === undefined) return (last.seconds * n) / last.n;
    const slope = Math.max(0, (last.seconds - before.seconds) / (last.n - before.n));
    return last.seconds + slope * (n - last.n);
  }
  let [low, high] = [first, last];
  for (const point of points) {
    if (point.n <= n) low = point;
    if (point.n >= n) {
      high = point;
      break;
    }
  }
  if (high.n === low.n) return low.seconds;
  return low.seconds + ((high.seconds - low.seconds) * (n - low.n)) / (high.n - low.n);
}
