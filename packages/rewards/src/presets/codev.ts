/** The reward of CodeV. */
import { definePreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { evidence } from '../rewards/evidence.ts';
import { formatCodev } from '../rewards/format-codev.ts';
import { judgedConsistency } from '../rewards/judged-consistency.ts';
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

/**
 * The ablation of table 2 in which an outcome reward is joined by one for consistency, "similar as"
 * Thyme's: nothing is asked about what tools show. Its first row, accuracy alone, is this preset with
 * the weight of `judged-consistency` 0.
 */
export const codevConsistency = definePreset({
  name: 'codev-consistency',
  paper: 'CodeV, arXiv:2511.19661, table 2',
  description: 'R = r_acc + 0.3·r_fmt + 0.5·r_consistency, the ablation of CodeV',
  terms: [
    term(accuracy, 1, 'code'),
    term(formatCodev, 0.3, 'code'),
    term(judgedConsistency, 0.5, 'code'),
  ],
  notes: ['Needs judgeScores.consistency; 0.5 is the weight in the code of Thyme.'],
});
