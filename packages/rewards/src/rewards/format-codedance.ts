/** CodeDance's format reward. */
import type { Trajectory } from '@saccade/trajectory';
import type { Reward } from '../reward.ts';
import { countOf, modelTexts } from './model-text.ts';

/** An answer this long breaks the format. */
const LONGEST_ANSWER = 1000;

/** Think tags in equal number, one pair of answer tags, an answer of less than 1000 characters. */
export function keepsAnswerFormat(trajectory: Trajectory): boolean {
  const text = modelTexts(trajectory).join('\n');
  const hasEvenThoughts = countOf(text, '<think>') === countOf(text, '</think>');
  const hasOneAnswer = countOf(text, '<answer>') === 1 && countOf(text, '</answer>') === 1;
  const length = trajectory.answer?.length ?? LONGEST_ANSWER;
  return hasEvenThoughts && hasOneAnswer && length < LONGEST_ANSWER;
}

/**
 * 0 if the format is kept, else −1.
 *
 *   R_format = −1{format broken}
 *
 * CodeDance, arXiv:2512.17312, §3.3; the rules and the weight 0.2 from its code, which took them
 * from DeepEyes.
 */
export const formatCodedance: Reward = {
  name: 'format-codedance',
  scope: 'trajectory',
  paper: 'CodeDance, arXiv:2512.17312, §3.3',
  range: [-1, 0],
  score: (trajectory) => (keepsAnswerFormat(trajectory) ? 0 : -1),
};
