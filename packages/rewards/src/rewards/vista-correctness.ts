/** VISTA-R1's reward for a right answer. */
import { defineReward } from '../define-reward.ts';
import { isWellFormed } from './vista-outcome.ts';

/**
 * 1 for a right answer without repetition in the right format, else 0.
 *
 *   R_correct = 1{ŷ = y}
 *
 * VISTA-R1, arXiv:2511.19773, §5.2.
 */
export const vistaCorrectness = defineReward({
  name: 'vista-correctness',
  scope: 'trajectory',
  description: '1 for a right answer in the right format and without repetition, else 0.',
  paper: 'VISTA-R1, arXiv:2511.19773, §5.2',
  range: [0, 1],
  score: (trajectory, context) => (context.isCorrect && isWellFormed(trajectory, context) ? 1 : 0),
});
