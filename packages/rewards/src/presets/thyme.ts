/** The reward of Thyme, for comparison. */
import { definePreset, term } from '../preset.ts';
import { formatThyme } from '../rewards/format-thyme.ts';
import { judgedConsistency } from '../rewards/judged-consistency.ts';
import { signedAccuracy } from '../rewards/signed-accuracy.ts';

const definition = {
  paper: 'Thyme, arXiv:2508.11630',
  description: 'R = 0.5·R_format ± 1 + 0.5·R_consistency',
  terms: [
    term(formatThyme, 0.5, 'code'),
    term(signedAccuracy, 1, 'code'),
    term(judgedConsistency, 0.5, 'code'),
  ],
  notes: ['Needs judgeScores.consistency.'],
};

/**
 *   R = 0.5·R_format + R_vqa + 0.5·R_consistency
 *
 * arXiv:2508.11630; the weights are its code's.
 */
export const thyme = definePreset({ name: 'thyme', ...definition });

/** The same: the numbers are the code's. */
export const thymeCode = definePreset({ name: 'thyme/code', ...definition });
