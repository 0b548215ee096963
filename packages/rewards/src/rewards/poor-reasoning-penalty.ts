/** CodeVision's penalty for a right answer from a crop of the wrong place. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { cropIous, type Frame, toolRecord } from './core-tools.ts';

export interface PoorReasoningPenaltyOptions {
  /** An IoU below this is negligible. */
  readonly leastIou: number;
  readonly frame: Frame;
}

/** The public code has none: there the accuracy is multiplied instead, see `grounded-accuracy`. */
export const poorReasoningPenaltyVariants: Variants<PoorReasoningPenaltyOptions> = {
  paper: { leastIou: sourced(0.1, 'note'), frame: sourced('canonical', 'reconstructed') },
  code: { leastIou: sourced(0.1, 'code'), frame: sourced('input', 'code') },
};

/**
 *   −1{right, cropped, best IoU < leastIou}
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (constraint penalties), weight 0.5. 0 for a task without box.
 */
export function poorReasoningPenaltyWith(constants: Sourced<PoorReasoningPenaltyOptions>): Reward {
  const { leastIou, frame } = valuesOf(constants);
  return {
    name: 'poor-reasoning-penalty',
    scope: 'trajectory',
    paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
    range: [-1, 0],
    constants: { ...constants },
    with: (changed) =>
      poorReasoningPenaltyWith({
        ...constants,
        ...changed,
      } as Sourced<PoorReasoningPenaltyOptions>),
    score(trajectory, context) {
      const ious = cropIous(toolRecord(trajectory, context), frame);
      if (!context.isCorrect || ious.length === 0) return 0;
      return Math.max(...ious) < leastIou ? -1 : 0;
    },
  };
}

export const poorReasoningPenalty: Reward = poorReasoningPenaltyWith(
  poorReasoningPenaltyVariants.paper,
);
