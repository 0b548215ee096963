/** VISTA-R1's reward for a right answer. */
import type { Reward } from '../reward.ts';
import { vistaOutcome } from './vista-outcome.ts';

/**
 * 1 for a right answer without repetition in the right format, else 0.
 *
 *   R_correct = 1{ŷ = y}
 *
 * VISTA-R1, arXiv:2511.19773, §5.2.
 */
export const vistaCorrectness: Reward = {
  name: 'vista-correctness',
  scope: 'trajectory',
  paper: 'VISTA-R1, arXiv:2511.19773, §5.2',
  range: [0, 1],
  score: (trajectory, context) => (vistaOutcome(trajectory, context).isCredited ? 1 : 0),
};
