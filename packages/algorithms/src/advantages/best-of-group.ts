/** Trains only the best trajectory: the objective is the best of k. */
import { ConfigError, isUniform } from '@saccade/core';
import type { GroupAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { over, stdOf } from '../statistics.ts';
import { owning } from '../unit.ts';

/**
 * The best trajectory's lead over the second best; the others get 0.
 *
 *   A_best = (R_best − R_second) / (std(R) + stdEpsilon),   all other A = 0
 *
 * Pass@k (max-at-k) training, arXiv:2503.19595; verl's `grpo_passk`.
 *
 * @returns [G] → [G]
 * @throws ConfigError for a group of one
 */
export const bestOfGroup = owning(
  { stdEpsilon: fields.stdEpsilon, stdDof: fields.stdDof },
  makeBestOfGroup,
);

/** The best trajectory's lead itself, not divided by the standard deviation. */
export function leadOfGroup(): GroupAdvantage {
  return makeBestOfGroup({ isScaled: false });
}

function makeBestOfGroup(
  options: {
    readonly stdEpsilon?: number;
    readonly stdDof?: number;
    readonly isScaled?: boolean;
  } = {},
): GroupAdvantage {
  const { stdEpsilon = 1e-6, stdDof = 1, isScaled = true } = options;
  return ({ rewards }) => {
    if (rewards.length < 2) {
      throw new ConfigError(
        'groupSize',
        `The best of a group needs at least 2 trajectories, this group has ${rewards.length}. ` +
          'Raise the group size.',
      );
    }
    let best = 0;
    for (let i = 1; i < rewards.length; i++) {
      if ((rewards[i] as number) > (rewards[best] as number)) best = i;
    }
    let second = Number.NEGATIVE_INFINITY;
    rewards.forEach((reward, i) => {
      if (i !== best) second = Math.max(second, reward);
    });
    const lead = (rewards[best] as number) - second;
    const advantages = new Float64Array(rewards.length);
    if (isUniform(rewards)) return advantages;
    advantages[best] = isScaled ? over(lead, stdOf(rewards, stdDof), stdEpsilon) : lead;
    return advantages;
  };
}
