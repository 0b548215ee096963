/** Thyme's and DAPO's reward for the answer. */
import { quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';

const settings = z.strictObject({
  right: quantity({ min: -10, max: 10, default: 1, unit: 'reward', about: 'Value if right.' }),
  wrong: quantity({ min: -10, max: 10, default: -1, unit: 'reward', about: 'Value if wrong.' }),
});

/**
 *   R = 1 if right, else −1
 *
 * Thyme, arXiv:2508.11630 (VQA_NORM in its code); DAPO, arXiv:2503.14476, eq. 7.
 */
export const signedAccuracy = defineReward({
  name: 'signed-accuracy',
  scope: 'trajectory',
  description: '1 if the final answer is right, else −1.',
  paper: 'Thyme, arXiv:2508.11630; DAPO, arXiv:2503.14476, eq. 7',
  settings,
  origins: { right: 'code', wrong: 'code' },
  range: ({ right, wrong }) => [Math.min(right, wrong), Math.max(right, wrong)],
  score: (_, { isCorrect }, { right, wrong }) => (isCorrect ? right : wrong),
});
