/** Correlations; undefined where one side does not vary, rather than 0. */

/**
 * Pearson's correlation. With a binary side it is the point-biserial correlation.
 *
 *   r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²)
 *
 * @returns from −1 to 1; undefined for fewer than two pairs, or where a side does not vary
 */
export function pearson(xs: readonly number[], ys: readonly number[]): number | undefined {
  const count = Math.min(xs.length, ys.length);
  if (count < 2) return undefined;
  const [meanX, meanY] = [average(xs, count), average(ys, count)];
  let [product, squareX, squareY] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const [dx, dy] = [(xs[i] as number) - meanX, (ys[i] as number) - meanY];
    product += dx * dy;
    squareX += dx * dx;
    squareY += dy * dy;
  }
  // The rounding error of equal numbers is not a variance.
  if (isNothing(squareX, meanX, count) || isNothing(squareY, meanY, count)) return undefined;
  const r = product / Math.sqrt(squareX * squareY);
  return Number.isFinite(r) ? Math.max(-1, Math.min(1, r)) : undefined;
}

/**
 * Spearman's rank correlation: Pearson's of the ranks, ties taking their mean rank.
 *
 * @returns from −1 to 1; undefined for fewer than two pairs, or where a side does not vary
 */
export function spearman(xs: readonly number[], ys: readonly number[]): number | undefined {
  const count = Math.min(xs.length, ys.length);
  return pearson(ranksOf(xs.slice(0, count)), ranksOf(ys.slice(0, count)));
}

function ranksOf(values: readonly number[]): readonly number[] {
  const order = values.map((_, index) => index);
  order.sort((a, b) => (values[a] as number) - (values[b] as number));
  const ranks = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    const own = values[order[start] as number];
    while (end < order.length && values[order[end] as number] === own) end++;
    for (let at = start; at < end; at++) ranks[order[at] as number] = (start + end - 1) / 2;
    start = end;
  }
  return ranks;
}

function average(values: readonly number[], count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += values[i] as number;
  return sum / count;
}

function isNothing(squares: number, mean: number, count: number): boolean {
  return squares <= count * (Math.abs(mean) * 1e-12) ** 2;
}
