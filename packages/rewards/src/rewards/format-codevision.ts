/** CodeVision's format reward. */
import { defineReward } from '../define-reward.ts';
import { allBetween, countOf, isBalanced, modelTexts } from './model-text.ts';

/**
 * 1 if the text starts with a thought, thoughts are balanced, and ends with its only answer, which is
 * outside of them; else 0.
 *
 *   r_fmt ∈ {0, 1}
 *
 * CodeVision, arXiv:2512.03746, §3.3.2, weight 0.1; the rules from its code.
 */
export const formatCodevision = defineReward({
  name: 'format-codevision',
  scope: 'trajectory',
  description: '1 if the text starts with a thought and ends with its only answer, else 0.',
  paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
  range: [0, 1],
  score(trajectory) {
    const text = modelTexts(trajectory).join('\n').trim();
    const hasThoughts = text.startsWith('<think>') && isBalanced(text, 'think');
    const hasAnswer =
      countOf(text, '<answer>') === 1 &&
      countOf(text, '</answer>') === 1 &&
      text.endsWith('</answer>');
    const thoughts = allBetween(text, '<think>', '</think>');
    const isOutside = !thoughts.some((inner) => inner.includes('<answer>'));
    return hasThoughts && hasAnswer && isOutside ? 1 : 0;
  },
});
