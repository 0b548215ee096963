/** How a cost grows with a size, from measurements. */

/**
 * The exponent p of time ∝ size^p by least squares on logarithms; NaN of fewer than two sizes.
 *
 * 1 is linear, 2 quadratic. Small sizes pay fixed costs and pull it down.
 */
export function growthExponent(sizes: readonly number[], times: readonly number[]): number {
  const [xs, ys] = [sizes.map(Math.log), times.map(Math.log)];
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(xs), mean(ys)];
  let [covariance, variance] = [0, 0];
  xs.forEach((x, i) => {
    covariance += (x - meanX) * ((ys[i] ?? Number.NaN) - meanY);
    variance += (x - meanX) ** 2;
  });
  return covariance / variance;
}

/** Ticks 1, 2, 5 · 10ⁿ inside a range, or powers of ten alone where those would be too many. */
export function logTicks(low: number, high: number, most: number): readonly number[] {
  for (const steps of [[1, 2, 5], [1]]) {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(1));
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
      }
    }
    if (ticks.length <= most) return ticks;
  }
  return [];
}
