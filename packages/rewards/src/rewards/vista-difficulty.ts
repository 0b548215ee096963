/** The difficulty-adaptive reward of VISTA-R1's ablation. */
import type { GroupReward, RewardContext } from '../reward.ts';
import { vistaOutcome } from './vista-outcome.ts';

/** The factor of a group whose mean base reward is D: 1 up to D = 1, ½ from D = 2. */
export function difficultyWeight(meanReward: number): number {
  return Math.min(1, Math.max(0, 2 - meanReward)) * 0.5 + 0.5;
}

/**
 *   R_diff = R·w,   w = clamp(2 − D, 0, 1)·0.5 + 0.5,   D = mean of R over the group
 *
 * VISTA-R1, arXiv:2511.19773, §6.3. R is at most 2, so only a group that is perfect is halved.
 */
export const vistaDifficulty: GroupReward = {
  name: 'vista-difficulty',
  scope: 'group',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  range: [-3, 2],
  score({ trajectories }, contexts) {
    const rewards = trajectories.map((trajectory, index) => {
      const outcome = vistaOutcome(trajectory, contexts[index] as RewardContext);
      if (outcome.repetition < 0) return outcome.repetition;
      return (outcome.isWellFormed ? 1 : -1) + (outcome.isCredited ? 1 : 0);
    });
    const sum = rewards.reduce((total, reward) => total + reward, 0);
    const weight = difficultyWeight(sum / Math.max(1, rewards.length));
    return rewards.map((reward) => reward * weight);
  },
};
