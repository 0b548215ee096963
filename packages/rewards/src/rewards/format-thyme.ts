/** Thyme's format reward. */
import { defineReward } from '../define-reward.ts';
import { countOf, modelTexts } from './model-text.ts';

/**
 * 1 if one thought and after it one answer are all there is, else 0.
 *
 * Thyme, arXiv:2508.11630, weight 0.5 in its code.
 */
export const formatThyme = defineReward({
  name: 'format-thyme',
  scope: 'trajectory',
  description: '1 if the text is one thought and one answer, else 0.',
  paper: 'Thyme, arXiv:2508.11630',
  range: [0, 1],
  score(trajectory) {
    const text = modelTexts(trajectory).join('\n').trim();
    const areSingle = ['<think>', '</think>', '<answer>', '</answer>'].every(
      (tag) => countOf(text, tag) === 1,
    );
    return areSingle && /^<think>[\s\S]*<\/think>\s*<answer>[\s\S]*<\/answer>$/.test(text) ? 1 : 0;
  },
});
