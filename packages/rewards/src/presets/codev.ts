/** The reward of CodeV. */
import { definePreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { evidence } from '../rewards/evidence.ts';
import { formatCodev } from '../rewards/format-codev.ts';
import { judgedProcess } from '../rewards/judged-process.ts';

const about = {
  paper: 'CodeV, arXiv:2511.19661',
  description: 'R = r_acc + 0.3·r_fmt + 0.5·r_tool',
  notes: [
    'paper needs stepScores of a judge that sees question and output alone (1, 0.5 or 0.25 a step).',
    'code needs judgeScores.process, one score for the trajectory.',
  ],
};

/**
 *   R = λ_acc·r_acc + 0.3·r_fmt + λ_tool·r_tool,   |λ_tool| < |λ_acc|
 *
 * arXiv:2511.19661, eq. 5; the paper prints no λ, its code has 1.0 and 0.5.
 */
export const codev = definePreset({
  name: 'codev',
  ...about,
  terms: [term(accuracy, 1, 'code'), term(formatCodev, 0.3, 'code'), term(evidence, 0.5, 'code')],
});

/** As its public code computes it: a judge grades the trajectory once. */
export const codevCode = definePreset({
  name: 'codev/code',
  ...about,
  terms: [
    term(accuracy, 1, 'code'),
    term(formatCodev, 0.3, 'code'),
    term(judgedProcess, 0.5, 'code'),
  ],
});
