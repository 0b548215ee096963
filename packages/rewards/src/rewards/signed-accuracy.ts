/** Thyme's reward for the answer. */
import type { Reward } from '../reward.ts';

/**
 *   R = 1 if right, else −1
 *
 * Thyme, arXiv:2508.11630; its code's VQA_NORM.
 */
export const signedAccuracy: Reward = {
  name: 'signed-accuracy',
  scope: 'trajectory',
  paper: 'Thyme, arXiv:2508.11630',
  range: [-1, 1],
  score: (_, { isCorrect }) => (isCorrect ? 1 : -1),
};
