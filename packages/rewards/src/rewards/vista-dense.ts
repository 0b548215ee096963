/** The dense reward of VISTA-R1's ablation. */
import type { Reward } from '../reward.ts';
import { vistaOutcome } from './vista-outcome.ts';

/**
 *   R_dense = −1 + 0.5·R_f + 0.5·R_c + R_f·R_c
 *
 * VISTA-R1, arXiv:2511.19773, §6.3. R_f is 0 or 1 here, as −1 or 1 would leave the range that the
 * formula is made for; R_c is whether the answer is right, whatever the format.
 */
export const vistaDense: Reward = {
  name: 'vista-dense',
  scope: 'trajectory',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  range: [-1, 1],
  score(trajectory, context) {
    const format = vistaOutcome(trajectory, context).isWellFormed ? 1 : 0;
    const correct = context.isCorrect ? 1 : 0;
    return -1 + 0.5 * format + 0.5 * correct + format * correct;
  },
};
