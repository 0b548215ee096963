/** The advantage of GRPO: standardised within the group. */
import type { GroupAdvantage } from '../choices.ts';
import { meanOf, over, stdOf } from '../statistics.ts';
import type { Singleton } from './group-mean.ts';

export interface GroupStdOptions {
  /** Added to the standard deviation. Default 1e-6. */
  readonly epsilon?: number;
  /** 1: denominator G − 1; 0: G. Default 1. */
  readonly ddof?: number;
  readonly singleton?: Singleton;
}

/**
 * Reward minus the group's mean, over the group's standard deviation.
 *
 *   A_i = (R_i − mean(R)) / (std(R) + stdEpsilon)
 *
 * DeepSeekMath, arXiv:2402.03300, §4.1.2, which leaves std's denominator and epsilon open: verl has
 * G − 1 and 1e-6, TRL G − 1 and 1e-4. A group of equal rewards gets 0; so does a group of one, which
 * in verl keeps its reward as if mean and std were 0 and 1.
 *
 * @returns [G] → [G]
 */
export function groupStd(options: GroupStdOptions = {}): GroupAdvantage {
  const { epsilon = 1e-6, ddof = 1, singleton = 'zero' } = options;
  return ({ rewards }) => {
    if (rewards.length === 1 && singleton === 'reward') {
      return Float64Array.from(rewards, (reward) => reward / (1 + epsilon));
    }
    const mean = meanOf(rewards);
    const std = stdOf(rewards, ddof);
    return Float64Array.from(rewards, (reward) => over(reward - mean, std, epsilon));
  };
}
