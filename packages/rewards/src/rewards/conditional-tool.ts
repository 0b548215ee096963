/** DeepEyes' bonus for a right answer with a tool. */
import { defineReward } from '../define-reward.ts';

/**
 * 1 if the answer is right and at least one execution returned an image, else 0.
 *
 *   R_tool = 1{R_acc > 0.5 ∧ a tool returned an image}
 *
 * DeepEyes, arXiv:2505.14362, weight 1.2 in its code, which looks for image tokens in the response.
 * Here the tool's result says whether it returned one.
 */
export const conditionalTool = defineReward({
  name: 'conditional-tool',
  scope: 'trajectory',
  description: '1 if the answer is right and a tool returned an image, else 0.',
  paper: 'DeepEyes, arXiv:2505.14362',
  range: [0, 1],
  score({ turns }, { isCorrect }) {
    const gaveImage = turns.some(({ result }) => result?.kind === 'ok' && result.imageCount > 0);
    return isCorrect && gaveImage ? 1 : 0;
  },
});
