/** The difficulty-adaptive reward of VISTA-R1's ablation. */
import { quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import type { RewardContext } from '../reward.ts';
import { repetition } from './repetition.ts';
import { vistaCorrectness } from './vista-correctness.ts';
import { vistaFormat } from './vista-format.ts';

const settings = z
  .strictObject({
    fullBelow: quantity({
      min: -100,
      max: 100,
      default: 1,
      unit: 'reward',
      about: 'Up to this mean reward of the group the factor is 1.',
    }),
    leastFrom: quantity({
      min: -100,
      max: 100,
      default: 2,
      unit: 'reward',
      about: 'From this mean reward on the factor is leastWeight.',
    }),
    leastWeight: quantity({
      min: 0,
      max: 1,
      default: 0.5,
      unit: 'factor',
      about: 'Factor of a group that needs no more training.',
    }),
  })
  .refine(({ fullBelow, leastFrom }) => leastFrom > fullBelow, {
    path: ['leastFrom'],
    message: 'more than fullBelow',
  });

/** Factor of a group whose mean base reward is D: 1 up to `fullBelow`, then down to `leastWeight`. */
export function difficultyWeight(
  meanReward: number,
  { fullBelow, leastFrom, leastWeight }: SettingsOf<typeof settings>,
): number {
  const share = (leastFrom - meanReward) / (leastFrom - fullBelow);
  return Math.min(1, Math.max(0, share)) * (1 - leastWeight) + leastWeight;
}

/**
 *   R_diff = R·w,   w = clamp(2 − D, 0, 1)·0.5 + 0.5,   D = mean of R over the group
 *
 * VISTA-R1, arXiv:2511.19773, §6.3. R is the sum of `repetition`, `vista-format` and
 * `vista-correctness`; it is at most 2, so only a group that is perfect is halved.
 */
export const vistaDifficulty = defineReward({
  name: 'vista-difficulty',
  scope: 'group',
  description: 'VISTA-R1’s reward, halved for groups that solve their task.',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  settings,
  origins: { fullBelow: 'paper', leastFrom: 'paper', leastWeight: 'paper' },
  // The settings of the three terms decide how far it reaches.
  range: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  score({ trajectories }, contexts, values) {
    const rewards = trajectories.map((_, index) => {
      const context = contexts[index] as RewardContext;
      const parts = [repetition, vistaFormat, vistaCorrectness];
      return parts.reduce((sum, part) => sum + context.termValue(part), 0);
    });
    const sum = rewards.reduce((total, reward) => total + reward, 0);
    const weight = difficultyWeight(sum / Math.max(1, rewards.length), values);
    return rewards.map((reward) => reward * weight);
  },
});
