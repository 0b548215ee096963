/** The standard normal distribution in float64. */
import { expectShare } from './arguments.ts';

const SMALLEST = 2 ** -1000;

/**
 * P(Z > x) for a standard normal Z, with full relative precision in the upper tail.
 *
 *   Q(x) = ½ erfc(x / √2)
 */
export function normalTail(x: number): number {
  if (x < 0) return 1 - normalTail(-x);
  return x < 3 ? 0.5 - centralArea(x) : upperTail(x);
}

/** P(0 < Z < x) = φ(x) · Σ x^(2n+1) / (1·3·5···(2n+1)): all terms are positive, so nothing cancels. */
function centralArea(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * Number.EPSILON * 0.01; n++) {
    term *= (x * x) / (2 * n + 1);
    sum += term;
  }
  return density(x) * sum;
}

/** Laplace's continued fraction φ(x) / (x + 1/(x + 2/(x + 3/…))), by Lentz's method. */
function upperTail(x: number): number {
  if (x > 40) return 0;
  let fraction = x;
  let [c, d] = [x, 0];
  for (let n = 1; n < 1000; n++) {
    d = 1 / (x + n * d || SMALLEST);
    c = x + n / c || SMALLEST;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < Number.EPSILON) break;
  }
  return density(x) / fraction;
}

const density = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** P(Z ≤ x) for a standard normal Z. */
export function normalCdf(x: number): number {
  return normalTail(-x);
}

/**
 * The x with P(Z ≤ x) = p, by Newton's method on the logarithm of the smaller tail.
 *
 * @param p strictly between 0 and 1
 * @throws ConfigError for any other p
 */
export function normalQuantile(p: number): number {
  expectShare('p', p);
  const isUpper = p > 0.5;
  const tail = isUpper ? 1 - p : p;
  if (tail === 0.5) return 0;
  // Q(x) ≤ ½ exp(−x²/2), so the start lies right of the root. The logarithm of the tail falls and is
  // concave, so Newton's steps come down to the root without passing it.
  let x = Math.sqrt(-2 * Math.log(2 * tail));
  for (let step = 0; step < 100; step++) {
    const area = normalTail(x);
    const change = (area * Math.log(area / tail)) / density(x);
    x += change;
    if (Math.abs(change) <= 2 * Number.EPSILON * Math.abs(x)) break;
  }
  return isUpper ? x : -x;
}

/** The half-width in standard deviations of a two-sided interval: 1.96 for 0.95. */
export function criticalValue(level: number): number {
  expectShare('level', level);
  // From the tail, so that a level close to 1 loses no digits.
  return -normalQuantile((1 - level) / 2);
}
