/** DeepEyes' bonus for a right answer with a tool. */
import type { Reward } from '../reward.ts';

/**
 * 1 if the answer is right and at least one execution gave a picture, else 0.
 *
 *   R_tool = 1{R_acc > 0.5 ∧ a tool gave a picture}
 *
 * DeepEyes, arXiv:2505.14362, weight 1.2 in its code, which looks for picture tokens in the response;
 * here the tool's result says whether it gave one.
 */
export const conditionalTool: Reward = {
  name: 'conditional-tool',
  scope: 'trajectory',
  paper: 'DeepEyes, arXiv:2505.14362',
  range: [0, 1],
  score({ turns }, { isCorrect }) {
    const gavePicture = turns.some(({ result }) => result?.kind === 'ok' && result.imageCount > 0);
    return isCorrect && gavePicture ? 1 : 0;
  },
};
