/** Standardizes each component of the reward separately, so that none dominates the others. */
import { ConfigError, expectLength } from '@saccade/core';
import { choice } from '@saccade/core/settings';
import type { GroupAdvantage } from '../choices.ts';
import { owning } from '../unit.ts';
import { groupMean } from './group-mean.ts';
import { type GroupStdOptions, groupStd } from './group-std.ts';

/** Options of `perTerm`: those of `groupStd`, applied to each component, and the scale. */
export interface PerTermOptions extends GroupStdOptions {
  /** `group` divides each component by its standard deviation; `none` does not. Default `group`. */
  readonly scale?: 'none' | 'group';
}

/**
 * Weighted sum of the advantages of every component of the reward.
 *
 *   A_i = Σ_k w_k·(R_ik − mean(R_k)) / (std(R_k) + stdEpsilon)
 *
 * GDPO, arXiv:2601.05242; TRL's `normalize_then_sum` and verl's `gdpo`. The second stage
 * standardizes the sum once more over the whole batch. `scale: none` leaves the components' std
 * out.
 *
 * @returns [G] → [G]
 * @throws ConfigError if the group has no terms
 */
export const perTerm = owning(
  {
    scale: choice(['none', 'group'], {
      default: 'group',
      about: 'Whether the group’s standard deviation divides each component.',
    }),
    ...groupStd.settings,
  },
  makePerTerm,
);

function makePerTerm(options: PerTermOptions = {}): GroupAdvantage {
  const relative = options.scale === 'none' ? groupMean(options) : groupStd(options);
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
      relative({ rewards: values }).forEach((advantage, i) => {
        advantages[i] = (advantages[i] as number) + weight * advantage;
      });
    }
    return advantages;
  };
}
