/** Each component of the reward is standardised by itself, so that none drowns the others. */
import { ConfigError, expectLength } from '@saccade/core';
import type { GroupAdvantage } from '../choices.ts';
import { type GroupStdOptions, groupStd } from './group-std.ts';

/**
 * Weighted sum of the advantages of every component of the reward.
 *
 *   A_i = Σ_k w_k·(R_ik − mean(R_k)) / (std(R_k) + stdEpsilon)
 *
 * GDPO, arXiv:2601.05242; TRL's `normalize_then_sum` and verl's `gdpo`. The sum is standardised once
 * more over the whole batch, by the second stage.
 *
 * @returns [G] → [G]
 * @throws ConfigError if the group has no terms
 */
export function perTerm(options: GroupStdOptions = {}): GroupAdvantage {
  const standardise = groupStd(options);
  return ({ rewards, terms, termWeights }) => {
    if (terms === undefined || Object.keys(terms).length === 0) {
      throw new ConfigError(
        'terms',
        "Advantages per term need the reward's terms, and the group has none. " +
          'Give each component by name.',
      );
    }
    const advantages = new Float64Array(rewards.length);
    for (const [name, values] of Object.entries(terms)) {
      expectLength(`terms.${name}`, values.length, rewards.length);
      const weight = termWeights?.[name] ?? 1;
      standardise({ rewards: values }).forEach((advantage, i) => {
        advantages[i] = (advantages[i] as number) + weight * advantage;
      });
    }
    return advantages;
  };
}
