/** The reward of Thyme, for comparison. */
import { type RewardPreset, term } from '../preset.ts';
import { formatThyme } from '../rewards/format-thyme.ts';
import { judgedConsistency } from '../rewards/judged-consistency.ts';
import { signedAccuracy } from '../rewards/signed-accuracy.ts';

/**
 *   R = 0.5·R_format + R_vqa + 0.5·R_consistency
 *
 * arXiv:2508.11630; the weights are its code's.
 */
export const thyme: RewardPreset = {
  name: 'thyme',
  paper: 'Thyme, arXiv:2508.11630',
  description: 'R = 0.5·R_format ± 1 + 0.5·R_consistency',
  variants: {
    paper: [
      term(formatThyme, 0.5, 'code'),
      term(signedAccuracy, 1, 'code'),
      term(judgedConsistency, 0.5, 'code'),
    ],
    code: [
      term(formatThyme, 0.5, 'code'),
      term(signedAccuracy, 1, 'code'),
      term(judgedConsistency, 0.5, 'code'),
    ],
  },
  notes: ['Needs judgeScores.consistency.'],
};
