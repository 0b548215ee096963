/**
 * The group's accuracy as the baseline, so that other rewards never lower an answer's advantage.
 */
import { ConfigError, expectLength } from '@saccade/core';
import type { GroupAdvantage } from '../choices.ts';
import { meanOf } from '../statistics.ts';

/**
 * Reward minus the group's mean accuracy.
 *
 *   A_i = R_i − mean(accuracy)
 *
 * The `grpo_w_anb` estimator in PyVision-RL's code (arXiv:2602.20739 does not use it): with the
 * tool bonus out of the baseline a right answer has no negative advantage.
 *
 * @returns [G] → [G]
 * @throws ConfigError if the group has no term `accuracy`
 */
export function accuracyBaseline(): GroupAdvantage {
  return ({ rewards, terms }) => {
    const accuracy = terms?.accuracy;
    if (accuracy === undefined) {
      throw new ConfigError(
        'terms.accuracy',
        'The accuracy baseline needs the term "accuracy", and the group has ' +
          `${Object.keys(terms ?? {}).join(', ') || 'no terms'}. Give 0 or 1 for each trajectory.`,
      );
    }
    expectLength('terms.accuracy', accuracy.length, rewards.length);
    const mean = meanOf(accuracy);
    return Float64Array.from(rewards, (reward) => reward - mean);
  };
}
