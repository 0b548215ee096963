/** The reward for a right answer. */
import type { Reward } from '../reward.ts';

/**
 * 1 if the final answer is right, else 0.
 *
 *   R_acc = 1{correct}
 */
export const accuracy: Reward = {
  name: 'accuracy',
  scope: 'trajectory',
  paper: 'arXiv:2602.20739, eq. 1',
  range: [0, 1],
  score: (_, context) => (context.isCorrect ? 1 : 0),
};
