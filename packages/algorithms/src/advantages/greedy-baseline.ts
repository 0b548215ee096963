/** The greedy answer's reward as the baseline. */
import { ConfigError } from '@saccade/core';
import type { GroupAdvantage } from '../choices.ts';

/**
 * Reward minus the reward of the greedy answer to the same task.
 *
 *   A_i = R_i − R(greedy)
 *
 * ReMax, arXiv:2310.10505.
 *
 * @returns [G] → [G]
 * @throws ConfigError if the group has no greedyReward
 */
export function greedyBaseline(): GroupAdvantage {
  return ({ rewards, greedyReward }) => {
    if (greedyReward === undefined) {
      throw new ConfigError(
        'greedyReward',
        'The greedy baseline needs greedyReward, and the group has none. ' +
          'Roll out each task once at temperature 0 and give its reward.',
      );
    }
    return Float64Array.from(rewards, (reward) => reward - greedyReward);
  };
}
