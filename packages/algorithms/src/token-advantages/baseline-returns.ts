/** Returns from each token on, minus the sequence's own baseline. */
import type { TokenAdvantage } from '../choices.ts';
import { forEachSequence } from '../sequences.ts';
import { returnsToGo } from '../token-rewards.ts';

/**
 * Return from each token on, minus the baseline that `groupAdvantages` took off the reward.
 *
 *   Gₜ = Σ_{u≥t} r_u;   Aₜ = Gₜ − b,   b = R − A_sequence
 *
 * ReMax, arXiv:2310.10505, with KL in the reward, as verl has it: the baseline is the greedy answer's
 * reward and pays no KL.
 */
export function baselineReturns(): TokenAdvantage {
  return (step) => {
    const { rewards, sequenceAdvantages, lossMask, sequenceOffsets } = step;
    const returns = returnsToGo(step, 1);
    const advantages = new Float64Array(returns.length);
    forEachSequence(sequenceOffsets, (s, start, end) => {
      const baseline = (rewards[s] as number) - (sequenceAdvantages[s] as number);
      for (let t = start; t < end; t++) {
        if (lossMask[t] !== 0) advantages[t] = (returns[t] as number) - baseline;
      }
    });
    return { advantages, returns };
  };
}
