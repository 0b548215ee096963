/** The reward of CodeVision. */
import { type RewardPreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { emergentToolVariants, emergentToolWith } from '../rewards/emergent-tool.ts';
import { exactOrderVariants, exactOrderWith } from '../rewards/exact-order.ts';
import { formatCodevision } from '../rewards/format-codevision.ts';
import { groundedAccuracyVariants, groundedAccuracyWith } from '../rewards/grounded-accuracy.ts';
import {
  inappropriateToolPenaltyVariants,
  inappropriateToolPenaltyWith,
} from '../rewards/inappropriate-tool-penalty.ts';
import { mustUseToolsVariants, mustUseToolsWith } from '../rewards/must-use-tools.ts';
import {
  poorReasoningPenaltyVariants,
  poorReasoningPenaltyWith,
} from '../rewards/poor-reasoning-penalty.ts';
import { suggestedToolVariants, suggestedToolWith } from '../rewards/suggested-tool.ts';
import { turnLimitPenaltyVariants, turnLimitPenaltyWith } from '../rewards/turn-limit-penalty.ts';

/**
 *   R = r_acc + 0.1·r_fmt + β₁·(must-use + suggested) − β₂·(three penalties)
 *
 * arXiv:2512.03746, eq. 2, with β₁ 1.0 and 0.2, β₂ 0.5.
 */
export const codevision: RewardPreset = {
  name: 'codevision',
  paper: 'CodeVision, arXiv:2512.03746',
  description: 'R = r_acc + 0.1·r_fmt + must-use + exact + suggested − 0.5·(penalties)',
  variants: {
    paper: [
      term(accuracy, 1, 'paper'),
      term(formatCodevision, 0.1, 'paper'),
      term(mustUseToolsWith(mustUseToolsVariants.paper), 1, 'paper'),
      term(exactOrderWith(exactOrderVariants.paper), 0.1, 'code'),
      term(suggestedToolWith(suggestedToolVariants.paper), 0.2, 'paper'),
      term(emergentToolWith(emergentToolVariants.paper), 0.2, 'paper'),
      term(turnLimitPenaltyWith(turnLimitPenaltyVariants.paper), 0.5, 'paper'),
      term(poorReasoningPenaltyWith(poorReasoningPenaltyVariants.paper), 0.5, 'paper'),
      term(inappropriateToolPenaltyWith(inappropriateToolPenaltyVariants.paper), 0.5, 'paper'),
    ],
    code: [
      term(groundedAccuracyWith(groundedAccuracyVariants.code), 1, 'code'),
      term(formatCodevision, 0.1, 'code'),
      term(mustUseToolsWith(mustUseToolsVariants.code), 1, 'code'),
      term(exactOrderWith(exactOrderVariants.code), 0.1, 'code'),
      term(suggestedToolWith(suggestedToolVariants.code), 0, 'code'),
      term(emergentToolWith(emergentToolVariants.code), 0.2, 'code'),
      term(turnLimitPenaltyWith(turnLimitPenaltyVariants.code), 0.5, 'code'),
      term(inappropriateToolPenaltyWith(inappropriateToolPenaltyVariants.code), 0.5, 'code'),
    ],
  },
  notes: [
    'Reads metadata.requiredTools (in order), metadata.box (canonical frame), metadata.toCanonical.',
    'The paper gives one weight, 0.2, for suggested tools; it is taken for both bonuses.',
    'In the code poor reasoning multiplies the accuracy instead of being punished.',
  ],
};
