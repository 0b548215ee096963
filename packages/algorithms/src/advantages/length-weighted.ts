/** The baseline of least variance where a trajectory's gradient grows with its length. */
import { ConfigError, expectLength, isUniform } from '@saccade/core';
import type { GroupAdvantage } from '../choices.ts';
import { singleton as singletonField } from '../fields.ts';
import { owning } from '../unit.ts';
import type { Singleton } from './group-mean.ts';

/**
 * Reward minus the group's mean weighted by length.
 *
 *   A_i = R_i − Σ_j l_j·R_j / Σ_j l_j,   l the number of tokens that train
 *
 * OPO, arXiv:2505.23585. A group of one gets 0, or in verl its reward.
 *
 * @returns [G] → [G]
 * @throws ConfigError if the group has no tokenCounts
 */
export const lengthWeighted = owning({ singleton: singletonField }, makeLengthWeighted);

function makeLengthWeighted(options: { readonly singleton?: Singleton } = {}): GroupAdvantage {
  const { singleton = 'zero' } = options;
  return ({ rewards, tokenCounts }) => {
    if (tokenCounts === undefined) {
      throw new ConfigError(
        'tokenCounts',
        'The length-weighted baseline needs tokenCounts, and the group has none. ' +
          'Give the tokens that train of each trajectory.',
      );
    }
    expectLength('tokenCounts', tokenCounts.length, rewards.length);
    if (rewards.length === 1 && singleton === 'reward') return Float64Array.from(rewards);
    if (isUniform(rewards)) return new Float64Array(rewards.length);
    const first = rewards[0] ?? 0;
    let [weighted, total] = [0, 0];
    for (let i = 0; i < rewards.length; i++) {
      weighted += (tokenCounts[i] as number) * ((rewards[i] as number) - first);
      total += tokenCounts[i] as number;
    }
    const baseline = first + (total === 0 ? 0 : weighted / total);
    return Float64Array.from(rewards, (reward) => reward - baseline);
  };
}
