/** The reward of CodeDance. */
import { definePreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { balancedToolCall } from '../rewards/balanced-tool-call.ts';
import { executionPenalty } from '../rewards/execution-penalty.ts';
import { formatCodedance } from '../rewards/format-codedance.ts';

const about = {
  paper: 'CodeDance, arXiv:2512.17312',
  description: 'r = R_acc + 0.2·R_format + R_seq, and r_t for turns that failed',
  notes: [
    'The advantage of turns (discount 0.2, weight 0.2 in the code) is the algorithm codedance.',
    'For mathematics the code weighs R_acc 1.2, R_format 0.4 and R_seq by 2 and 1.',
    'The code takes for μ the mean of the total score; here it is the accuracy in both variants.',
  ],
};

/**
 *   r = R_acc + R_format + R_seq,   and R_turn turn by turn
 *
 * arXiv:2512.17312, §3.3.
 */
export const codedance = definePreset({
  name: 'codedance',
  ...about,
  terms: [
    term(accuracy, 1, 'paper'),
    term(formatCodedance, 0.2, 'code'),
    term(balancedToolCall, 1, 'paper'),
    term(executionPenalty, 1, 'paper'),
  ],
});

/** As its public code computes it: d twice as steep, and code of comments counts as a success. */
export const codedanceCode = definePreset({
  name: 'codedance/code',
  ...about,
  terms: [
    term(accuracy, 1, 'code'),
    term(formatCodedance, 0.2, 'code'),
    term(
      balancedToolCall.with(
        {
          gamma: 4,
          delta: 0.2,
          doubleSteepness: true,
          wrongWeight: 0.5,
          rightWeight: 1.5,
          countsIdleCode: true,
        },
        'code',
      ),
      1,
      'code',
    ),
    term(executionPenalty.with({ penalty: -0.5 }, 'code'), 1, 'code'),
  ],
});
