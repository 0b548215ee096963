/** The reward of CodeDance. */
import { type RewardPreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { balancedToolCallVariants, balancedToolCallWith } from '../rewards/balanced-tool-call.ts';
import { executionPenaltyVariants, executionPenaltyWith } from '../rewards/execution-penalty.ts';
import { formatCodedance } from '../rewards/format-codedance.ts';

/**
 *   r = R_acc + R_format + R_seq,   and R_turn turn by turn
 *
 * arXiv:2512.17312, §3.3.
 */
export const codedance: RewardPreset = {
  name: 'codedance',
  paper: 'CodeDance, arXiv:2512.17312',
  description: 'r = R_acc + 0.2·R_format + R_seq, and r_t for turns that failed',
  variants: {
    paper: [
      term(accuracy, 1, 'paper'),
      term(formatCodedance, 0.2, 'code'),
      term(balancedToolCallWith(balancedToolCallVariants.paper), 1, 'paper'),
      term(executionPenaltyWith(executionPenaltyVariants.paper), 1, 'paper'),
    ],
    code: [
      term(accuracy, 1, 'code'),
      term(formatCodedance, 0.2, 'code'),
      term(balancedToolCallWith(balancedToolCallVariants.code), 1, 'code'),
      term(executionPenaltyWith(executionPenaltyVariants.code), 1, 'code'),
    ],
  },
  notes: [
    'The advantage of turns (discount 0.2, weight 0.2 in the code) is the algorithm codedance.',
    'For mathematics the code weighs R_acc 1.2, R_format 0.4 and R_seq by 2 and 1.',
    'The code takes for μ the mean of the total score; here it is the accuracy in both variants.',
  ],
};
