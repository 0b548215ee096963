/** Discounted future rewards, with the batch as the baseline. */
import type { TokenAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { whiten } from '../statistics.ts';
import { returnsToGo, rewardPlacement } from '../token-rewards.ts';
import { owning } from '../unit.ts';

/**
 * Return from each token on, whitened over all tokens of the step.
 *
 *   Gₜ = rₜ + gamma·Gₜ₊₁;   Aₜ = (Gₜ − mean(G)) / √(var(G) + 1e-8)
 *
 * REINFORCE++, arXiv:2501.03262; verl's `reinforce_plus_plus`. Tokens that do not train pass the
 * return on.
 */
export const returnToGo = owning(
  { gamma: fields.gamma, lengthEpsilon: fields.lengthEpsilon, rewardPlacement },
  makeReturnToGo,
);

function makeReturnToGo(
  options: { readonly gamma?: number; readonly lengthEpsilon?: number } = {},
): TokenAdvantage {
  const { gamma = 1, lengthEpsilon = 0 } = options;
  return (step) => {
    const returns = returnsToGo(step, gamma);
    return { advantages: whiten(returns, step.lossMask, lengthEpsilon), returns };
  };
}
