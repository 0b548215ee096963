/** No baseline in the group. */
import type { GroupAdvantage } from '../choices.ts';

/**
 * The reward unchanged; the second stage makes the advantage.
 *
 *   A_i = R_i
 *
 * Where the baseline is a value function (PPO, arXiv:1707.06347) or the batch (REINFORCE++,
 * arXiv:2501.03262).
 *
 * @returns [G] → [G]
 */
export function rawReward(): GroupAdvantage {
  return ({ rewards }) => Float64Array.from(rewards);
}
