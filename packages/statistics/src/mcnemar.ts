/** The test of two models that solve a task or do not. */
import { expectCount } from './arguments.ts';
import { fairCoin } from './binomial.ts';
import { normalTail } from './normal.ts';

/** How McNemar's p-value is computed. */
export type McNemarMethod = 'exact' | 'mid-p' | 'chi-squared' | 'chi-squared-corrected';

/**
 * McNemar's test of paired yes-or-no outcomes (1947): only tasks on which the models differ tell them
 * apart, and each falls to either side like a coin if the models are alike.
 *
 *   exact        p = 2 P(X ≤ min(b, c)),  X ~ Binomial(b + c, ½), at most 1
 *   mid-p        p = exact − P(X = min(b, c)): less conservative (Fagerland et al. 2013)
 *   chi-squared  p = P(χ²₁ ≥ (|b − c| − κ)² / (b + c)),  κ = 1 if corrected, else 0
 *
 * With b wins and c losses it is the sign test.
 *
 * @param b tasks that the first model alone solves
 * @param c tasks that the second alone solves
 * @throws ConfigError for anything but counts
 */
export function mcnemar(b: number, c: number, method: McNemarMethod = 'exact'): number {
  expectCount('b', b, 0);
  expectCount('c', c, 0);
  const differing = b + c;
  if (differing === 0) return 1;
  if (method === 'exact' || method === 'mid-p') {
    const { atMost, exactly } = fairCoin(Math.min(b, c), differing);
    if (method === 'exact') return Math.min(1, 2 * atMost);
    return Math.min(1, 2 * atMost - exactly);
  }
  const correction = method === 'chi-squared-corrected' ? 1 : 0;
  // χ² with one degree of freedom is the square of a standard normal. statsmodels squares the
  // corrected difference also where it is negative, at b = c.
  return 2 * normalTail(Math.abs(Math.abs(b - c) - correction) / Math.sqrt(differing));
}
