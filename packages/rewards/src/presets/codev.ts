/** The reward of CodeV. */
import { type RewardPreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { evidenceVariants, evidenceWith } from '../rewards/evidence.ts';
import { formatCodev } from '../rewards/format-codev.ts';
import { judgedProcess } from '../rewards/judged-process.ts';

/**
 *   R = λ_acc·r_acc + 0.3·r_fmt + λ_tool·r_tool,   |λ_tool| < |λ_acc|
 *
 * arXiv:2511.19661, eq. 5; the paper prints no λ, its code has 1.0 and 0.5.
 */
export const codev: RewardPreset = {
  name: 'codev',
  paper: 'CodeV, arXiv:2511.19661',
  description: 'R = r_acc + 0.3·r_fmt + 0.5·r_tool',
  variants: {
    paper: [
      term(accuracy, 1, 'code'),
      term(formatCodev, 0.3, 'code'),
      term(evidenceWith(evidenceVariants.paper), 0.5, 'code'),
    ],
    code: [
      term(accuracy, 1, 'code'),
      term(formatCodev, 0.3, 'code'),
      term(judgedProcess, 0.5, 'code'),
    ],
  },
  notes: [
    'paper needs stepScores of a judge that sees question and output alone (1, 0.5 or 0.25 a step).',
    'code needs judgeScores.process, one score for the trajectory.',
  ],
};
