/** The sparse reward of VISTA-R1's ablation. */
import { defineReward } from '../define-reward.ts';
import { isWellFormed } from './vista-outcome.ts';

/**
 *   R_sparse = R_f·R_c
 *
 * VISTA-R1, arXiv:2511.19773, §6.3, with R_f 0 or 1.
 */
export const vistaSparse = defineReward({
  name: 'vista-sparse',
  scope: 'trajectory',
  description: '1 for a right answer in the right format, else 0.',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  range: [0, 1],
  score: (trajectory, context) => (context.isCorrect && isWellFormed(trajectory, context) ? 1 : 0),
});
