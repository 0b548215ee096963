/** The sparse reward of VISTA-R1's ablation. */
import type { Reward } from '../reward.ts';
import { vistaOutcome } from './vista-outcome.ts';

/**
 *   R_sparse = R_f·R_c
 *
 * VISTA-R1, arXiv:2511.19773, §6.3, with R_f 0 or 1.
 */
export const vistaSparse: Reward = {
  name: 'vista-sparse',
  scope: 'trajectory',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  range: [0, 1],
  score: (trajectory, context) => (vistaOutcome(trajectory, context).isCredited ? 1 : 0),
};
