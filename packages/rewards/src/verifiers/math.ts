/** Answers that must be the same mathematics. */
import { answersMatch } from '@saccade/math-verify';
import { defineVerifier } from '../define-verifier.ts';

/**
 * 1 if both state the same mathematics, however they are written; see `@saccade/math-verify`.
 * PyVision-RL, CodeDance and CodeV score mathematics with Math-Verify, whose notation it follows.
 */
export const math = defineVerifier({
  name: 'math',
  description: 'The same mathematics, in LaTeX or plain notation.',
  paper: 'github.com/huggingface/Math-Verify; numeric probing after doi:10.1145/322217.322225',
  verify: (answer, expected) => (answersMatch(answer, expected) ? 1 : 0),
});
