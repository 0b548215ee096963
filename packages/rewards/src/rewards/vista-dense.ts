/** The dense reward of VISTA-R1's ablation. */
import { quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { isWellFormed } from './vista-outcome.ts';

const coefficient = (preset: number, about: string) =>
  quantity({ min: -10, max: 10, default: preset, unit: 'reward', about });

const settings = z.strictObject({
  base: coefficient(-1, 'Value without format and without a right answer.'),
  format: coefficient(0.5, 'Added for the right format.'),
  correct: coefficient(0.5, 'Added for a right answer.'),
  both: coefficient(1, 'Added for a right answer in the right format.'),
});

/**
 *   R_dense = −1 + 0.5·R_f + 0.5·R_c + R_f·R_c
 *
 * VISTA-R1, arXiv:2511.19773, §6.3. R_f is 0 or 1 here: −1 or 1 would leave the range that the
 * formula is made for. R_c is whether the answer is right, whatever the format.
 */
export const vistaDense = defineReward({
  name: 'vista-dense',
  scope: 'trajectory',
  description: '−1 + 0.5·R_f + 0.5·R_c + R_f·R_c',
  paper: 'VISTA-R1, arXiv:2511.19773, §6.3',
  settings,
  origins: { base: 'paper', format: 'paper', correct: 'paper', both: 'paper' },
  range({ base, format, correct, both }) {
    const attainable = [base, base + format, base + correct, base + format + correct + both];
    return [Math.min(...attainable), Math.max(...attainable)];
  },
  score(trajectory, context, values) {
    const format = isWellFormed(trajectory, context) ? 1 : 0;
    const correct = context.isCorrect ? 1 : 0;
    const apart = values.base + values.format * format + values.correct * correct;
    return apart + values.both * (format * correct);
  },
});
