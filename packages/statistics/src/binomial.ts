/** Exact tails of coin flips, and chances of draws without replacement. */

const logFactorials: number[] = [0];

/** ln n!, from a table that grows. */
function logFactorial(n: number): number {
  for (let i = logFactorials.length; i <= n; i++) {
    logFactorials.push((logFactorials[i - 1] as number) + Math.log(i));
  }
  return logFactorials[n] as number;
}

const logChoose = (n: number, k: number): number =>
  logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** P(X = hits), where `draws` of `total` items are drawn, and `marked` of the items are marked. */
export function hypergeometric(hits: number, total: number, marked: number, draws: number): number {
  if (hits < 0 || hits > marked || draws - hits < 0 || draws - hits > total - marked) return 0;
  return Math.exp(
    logChoose(marked, hits) + logChoose(total - marked, draws - hits) - logChoose(total, draws),
  );
}

/**
 * P(X ≤ count) and P(X = count) for `flips` flips of a fair coin.
 *
 * Sums the ratios to the likeliest count, so nothing overflows, cancels or needs a factorial.
 */
export function fairCoin(
  count: number,
  flips: number,
): { readonly atMost: number; readonly exactly: number } {
  const middle = Math.floor(flips / 2);
  const weights = new Float64Array(flips + 1);
  weights[middle] = 1;
  for (let i = middle; i < flips; i++) {
    weights[i + 1] = ((weights[i] as number) * (flips - i)) / (i + 1);
  }
  for (let i = middle; i > 0; i--) {
    weights[i - 1] = ((weights[i] as number) * i) / (flips - i + 1);
  }
  const sum = (end: number): number => weights.subarray(0, end).reduce((a, b) => a + b, 0);
  const all = sum(flips + 1);
  return { atMost: sum(count + 1) / all, exactly: (weights[count] ?? 0) / all };
}
