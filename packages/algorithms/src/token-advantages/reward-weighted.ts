/** Weights trajectories by how reliable their rewards are. */
import { choice, quantity } from '@saccade/core/settings';
import type { TokenAdvantage } from '../choices.ts';
import { forEachSequence } from '../sequences.ts';
import { owning, settingsRead } from '../unit.ts';

/** Options of `rewardWeighted`. */
export interface RewardWeightOptions {
  /** The weight as a function of the reward; the formulas are at `rewardWeighted`. */
  readonly reweight: 'power' | 'extremes' | 'best';
  /** Exponent of `power`. */
  readonly reweightPower: number;
}

/**
 * Advantages times the expected number of times that a resampled batch contains their sequence.
 *
 *   Aₜ = A′ₜ · S·v_s / Σ_i v_i,   v = weight(R) + 1e-8
 *   power: |R|^reweightPower;   extremes: 1 at the largest and smallest R, else 0;   best: 0.4 at the
 *   largest R, else 0.1
 *
 * Policy filtration, PF-PPO, arXiv:2409.06957; verl's `use_pf_ppo` (`pow`, `max_min`,
 * `max_random`). verl draws S sequences with replacement, with probabilities v. Here each has its
 * expected multiplicity, so nothing is random and every sequence stays in the denominators. The
 * value loss is not reweighted.
 */
export const rewardWeighted = owning(
  {
    reweight: choice(['power', 'extremes', 'best'], {
      default: 'power',
      about: 'The function of the reward that weights trajectories.',
    }),
    reweightPower: quantity({
      min: 0,
      max: 100,
      default: 2,
      unit: 'exponent',
      about: 'Exponent of reweight "power".',
    }),
  },
  (inner: TokenAdvantage, options: RewardWeightOptions): TokenAdvantage =>
    (step) => {
      const given = inner(step);
      const weights = rewardWeights(step.rewards, options);
      const advantages = given.advantages.slice();
      forEachSequence(step.sequenceOffsets, (s, start, end) => {
        for (let t = start; t < end; t++) {
          advantages[t] = (advantages[t] as number) * (weights[s] as number);
        }
      });
      return { ...given, advantages };
    },
  (inner, { reweight }) => [
    ...settingsRead(inner),
    'reweight',
    ...(reweight === 'power' ? ['reweightPower'] : []),
  ],
);

/** Expected multiplicities [S] of the sequences; their sum is S. */
export function rewardWeights(
  rewards: ArrayLike<number>,
  { reweight, reweightPower }: RewardWeightOptions,
): Float64Array {
  const values = Float64Array.from(rewards);
  const [smallest, largest] = [Math.min(...values), Math.max(...values)];
  const weightOf = (reward: number): number => {
    if (reweight === 'power') return Math.abs(reward) ** reweightPower;
    if (reweight === 'extremes') return reward === largest || reward === smallest ? 1 : 0;
    return reward === largest ? 0.4 : 0.1;
  };
  const weights = values.map((reward) => weightOf(reward) + 1e-8);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (weights.length * weight) / total);
}
