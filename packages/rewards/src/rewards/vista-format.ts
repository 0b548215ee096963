/** VISTA-R1's format reward. */
import type { Reward } from '../reward.ts';
import { vistaOutcome } from './vista-outcome.ts';

/**
 * 1 if every turn conforms, −1 if one does not; 0 where the text repeats itself, which is punished by
 * `repetition` instead.
 *
 *   R_format = (1{all turns conform} − 0.5)·2
 *
 * VISTA-R1, arXiv:2511.19773, §5.2. A trajectory that ends without an answer does not conform.
 */
export const vistaFormat: Reward = {
  name: 'vista-format',
  scope: 'trajectory',
  paper: 'VISTA-R1, arXiv:2511.19773, §5.2',
  range: [-1, 1],
  score(trajectory, context) {
    const { repetition, isWellFormed } = vistaOutcome(trajectory, context);
    if (repetition < 0) return 0;
    return isWellFormed ? 1 : -1;
  },
};
