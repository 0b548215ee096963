/** Discounted rewards to come, with the batch as the baseline. */
import type { TokenAdvantage } from '../choices.ts';
import { whiten } from '../statistics.ts';
import { returnsToGo } from '../token-rewards.ts';

/**
 * Return from each token on, whitened over all tokens of the step.
 *
 *   Gₜ = rₜ + gamma·Gₜ₊₁;   Aₜ = (Gₜ − mean(G)) / √(var(G) + 1e-8)
 *
 * REINFORCE++, arXiv:2501.03262; verl's `reinforce_plus_plus`. Tokens that do not train pass the
 * return on.
 */
export function returnToGo(
  options: { gamma?: number; countEpsilon?: number } = {},
): TokenAdvantage {
  const { gamma = 1, countEpsilon = 0 } = options;
  return (step) => {
    const returns = returnsToGo(step, gamma);
    return { advantages: whiten(returns, step.lossMask, countEpsilon), returns };
  };
}
