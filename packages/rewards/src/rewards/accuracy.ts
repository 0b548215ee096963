/** The reward for a right answer. */
import { defineReward } from '../define-reward.ts';

/**
 * 1 if the final answer is right, else 0.
 *
 *   R_acc = 1{correct}
 */
export const accuracy = defineReward({
  name: 'accuracy',
  scope: 'trajectory',
  description: '1 if the final answer is right, else 0.',
  paper: 'arXiv:2602.20739, eq. 1',
  range: [0, 1],
  score: (_, context) => (context.isCorrect ? 1 : 0),
});
