/** CodeV's format reward. */
import { defineReward } from '../define-reward.ts';
import { countOf, isBalanced, modelTexts } from './model-text.ts';

/**
 * 1 if code, thoughts and images have matching tags and one answer comes after all code, else 0.
 *
 *   r_fmt ∈ {0, 1}
 *
 * CodeV, arXiv:2511.19661, Fig. 9 (largest value 0.3, so the weight 0.3); the rules from its code.
 */
export const formatCodev = defineReward({
  name: 'format-codev',
  scope: 'trajectory',
  description: '1 if tags match and one answer follows all code, else 0.',
  paper: 'CodeV, arXiv:2511.19661, Fig. 9',
  range: [0, 1],
  score(trajectory) {
    const text = modelTexts(trajectory).join('\n');
    const areMatched = ['code', 'think', 'answer'].every((tag) => isBalanced(text, tag));
    const areImagesMatched = countOf(text, '<|vision_start|>') === countOf(text, '<|vision_end|>');
    const hasOneAnswer = countOf(text, '<answer>') === 1;
    const isCodeBefore = !text.slice(text.indexOf('<answer>')).includes('<code>');
    return areMatched && areImagesMatched && hasOneAnswer && isCodeBefore ? 1 : 0;
  },
});
