/** The advantage of GRPO: standardized within the group. */
import type { GroupAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { deviations, over, stdOf } from '../statistics.ts';
import { owning } from '../unit.ts';
import type { Singleton } from './group-mean.ts';

/** Options of `groupStd`; the defaults are verl's. */
export interface GroupStdOptions {
  /** Added to the standard deviation. Default 1e-6. */
  readonly stdEpsilon?: number;
  /** The standard deviation has the denominator G − stdDof: 1 or 0. Default 1. */
  readonly stdDof?: number;
  /** Advantage of a group of one. Default `zero`. */
  readonly singleton?: Singleton;
}

/**
 * Reward minus the group's mean, over the group's standard deviation.
 *
 *   A_i = (R_i − mean(R)) / (std(R) + stdEpsilon)
 *
 * DeepSeekMath, arXiv:2402.03300, §4.1.2, which leaves std's denominator and epsilon open: verl has
 * G − 1 and 1e-6, TRL G − 1 and 1e-4. A group whose rewards are equal but for rounding noise
 * (`isUniform`) gets 0. So does a group of one; in verl it keeps its reward, as if mean and std
 * were 0 and 1.
 *
 * @returns [G] → [G]
 */
export const groupStd = owning(
  { stdEpsilon: fields.stdEpsilon, stdDof: fields.stdDof, singleton: fields.singleton },
  makeGroupStd,
);

function makeGroupStd(options: GroupStdOptions = {}): GroupAdvantage {
  const { stdEpsilon = 1e-6, stdDof = 1, singleton = 'zero' } = options;
  return ({ rewards }) => {
    if (rewards.length === 1 && singleton === 'reward') {
      return Float64Array.from(rewards, (reward) => reward / (1 + stdEpsilon));
    }
    const std = stdOf(rewards, stdDof);
    return deviations(rewards).map((deviation) => over(deviation, std, stdEpsilon));
  };
}
