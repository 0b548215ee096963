/** CodeDance's format reward. */
import { count, quantity } from '@saccade/core/settings';
import type { Trajectory } from '@saccade/trajectory';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { countOf, modelTexts } from './model-text.ts';

const settings = z.strictObject({
  maxAnswerCharacters: count({
    min: 1,
    max: 1_000_000,
    default: 1000,
    unit: 'characters',
    about: 'An answer this long or longer breaks the format.',
  }),
  broken: quantity({
    min: -10,
    max: 0,
    default: -1,
    unit: 'reward',
    about: 'Value if the format is broken.',
  }),
});

/** Think tags in equal number, one pair of answer tags, and an answer below the limit. */
function keepsAnswerFormat(trajectory: Trajectory, maxAnswerCharacters: number): boolean {
  const text = modelTexts(trajectory).join('\n');
  const hasEvenThoughts = countOf(text, '<think>') === countOf(text, '</think>');
  const hasOneAnswer = countOf(text, '<answer>') === 1 && countOf(text, '</answer>') === 1;
  const length = trajectory.answer?.length ?? maxAnswerCharacters;
  return hasEvenThoughts && hasOneAnswer && length < maxAnswerCharacters;
}

/**
 * 0 if the format is kept, else −1.
 *
 *   R_format = −1{format broken}
 *
 * CodeDance, arXiv:2512.17312, §3.3; the rules and the weight 0.2 from its code, which took them
 * from DeepEyes.
 */
export const formatCodedance = defineReward({
  name: 'format-codedance',
  scope: 'trajectory',
  description: '0 if tags pair up and the answer is short enough, else −1.',
  paper: 'CodeDance, arXiv:2512.17312, §3.3',
  settings,
  origins: { maxAnswerCharacters: 'code', broken: 'code' },
  range: ({ broken }) => [Math.min(broken, -Number.MIN_VALUE), 0],
  score: (trajectory, _, { maxAnswerCharacters, broken }) =>
    keepsAnswerFormat(trajectory, maxAnswerCharacters) ? 0 : broken,
});
