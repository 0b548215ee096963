/** Weighs trajectories by how reliable their reward is. */
import { choice, quantity } from '@saccade/core/settings';
import type { TokenAdvantage } from '../choices.ts';
import { forEachSequence } from '../sequences.ts';
import { owning, settingsRead } from '../unit.ts';

export interface RewardWeightOptions {
  readonly reweight: 'power' | 'extremes' | 'best';
  /** Exponent of `power`. */
  readonly reweightPower: number;
}

/**
 * Advantages times how often a resampled batch is expected to hold their sequence.
 *
 *   Aₜ = A′ₜ · S·v_s / Σ_i v_i,   v = weight(R) + 1e-8
 *   power: |R|^reweightPower;   extremes: 1 at the largest and smallest R, else 0;   best: 0.4 at the
 *   largest R, else 0.1
 *
 * Policy filtration, PF-PPO, arXiv:2409.06957; verl's `use_pf_ppo` (`pow`, `max_min`, `max_random`). verl
 * draws S sequences with replacement and probabilities v; here each has its expected multiplicity, so
 * there is no chance in it and every sequence stays in the denominators. The value loss is not
 * reweighted.
 */
export const rewardWeighted = owning(
  {
    reweight: choice(['power', 'extremes', 'best'], {
      default: 'power',
      about: 'The function of the reward that trajectories are weighted with.',
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

/** [S] expected multiplicities; their sum is S. */
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
