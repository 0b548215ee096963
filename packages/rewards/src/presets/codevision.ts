/** The reward of CodeVision. */
import { definePreset, term } from '../preset.ts';
import { accuracy } from '../rewards/accuracy.ts';
import { emergentTool } from '../rewards/emergent-tool.ts';
import { exactOrder } from '../rewards/exact-order.ts';
import { formatCodevision } from '../rewards/format-codevision.ts';
import { groundedAccuracy } from '../rewards/grounded-accuracy.ts';
import { inappropriateToolPenalty } from '../rewards/inappropriate-tool-penalty.ts';
import { mustUseTools } from '../rewards/must-use-tools.ts';
import { poorReasoningPenalty } from '../rewards/poor-reasoning-penalty.ts';
import { suggestedTool } from '../rewards/suggested-tool.ts';
import { turnLimitPenalty } from '../rewards/turn-limit-penalty.ts';

const about = {
  paper: 'CodeVision, arXiv:2512.03746',
  description: 'R = r_acc + 0.1·r_fmt + must-use + exact + suggested − 0.5·(penalties)',
  notes: [
    'Reads metadata.requiredTools (in order), metadata.box (canonical frame), metadata.toCanonical.',
    'The paper gives one weight, 0.2, for suggested tools; it is taken for both bonuses.',
    'In the code poor reasoning multiplies the accuracy instead of being punished.',
  ],
};

/**
 *   R = r_acc + 0.1·r_fmt + β₁·(must-use + suggested) − β₂·(three penalties)
 *
 * arXiv:2512.03746, eq. 2, with β₁ 1.0 and 0.2, β₂ 0.5.
 */
export const codevision = definePreset({
  name: 'codevision',
  ...about,
  terms: [
    term(accuracy, 1, 'paper'),
    term(formatCodevision, 0.1, 'paper'),
    term(mustUseTools, 1, 'paper'),
    term(exactOrder, 0.1, 'code'),
    term(suggestedTool, 0.2, 'paper'),
    term(emergentTool, 0.2, 'paper'),
    term(turnLimitPenalty, 0.5, 'paper'),
    term(poorReasoningPenalty, 0.5, 'paper'),
    term(inappropriateToolPenalty, 0.5, 'paper'),
  ],
});

/** As its public code computes it: sets, boxes as written, a multiplier, linear penalties. */
export const codevisionCode = definePreset({
  name: 'codevision/code',
  ...about,
  terms: [
    term(groundedAccuracy.with({ leastShare: 0.1, frame: 'input' }, 'code'), 1, 'code'),
    term(formatCodevision, 0.1, 'code'),
    term(mustUseTools.with({ frame: 'input' }, 'code'), 1, 'code'),
    term(exactOrder.with({ isOrdered: false, leastIou: 0, frame: 'input' }, 'code'), 0.1, 'code'),
    term(suggestedTool.with({ byAnyTool: true, mostSuccesses: 1 }, 'code'), 0, 'code'),
    term(emergentTool.with({ countsCrop: false }, 'code'), 0.2, 'code'),
    term(
      turnLimitPenalty.with({ spareTurns: 0, leastTurns: 2, isLinear: true }, 'code'),
      0.5,
      'code',
    ),
    term(
      inappropriateToolPenalty.with({ forAnyUpright: true, isCounted: true }, 'code'),
      0.5,
      'code',
    ),
  ],
});
