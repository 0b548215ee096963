/** Accuracy that CodeVision's public code scales down where a required crop missed. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { type Frame, mandatoryShare, toolRecord } from './core-tools.ts';

export interface GroundedAccuracyOptions {
  /** Below this share of the required tools the accuracy is multiplied by it. */
  readonly leastShare: number;
  readonly frame: Frame;
}

/** The paper has a penalty instead, see `poor-reasoning-penalty`; its variant maps the boxes. */
export const groundedAccuracyVariants: Variants<GroundedAccuracyOptions> = {
  paper: { leastShare: sourced(0.1, 'code'), frame: sourced('canonical', 'reconstructed') },
  code: { leastShare: sourced(0.1, 'code'), frame: sourced('input', 'code') },
};

/**
 *   R = R_acc·r_mand if a crop is required and r_mand < leastShare, else R_acc
 *
 * The public code of CodeVision, arXiv:2512.03746.
 */
export function groundedAccuracyWith(constants: Sourced<GroundedAccuracyOptions>): Reward {
  const { leastShare, frame } = valuesOf(constants);
  return {
    name: 'grounded-accuracy',
    scope: 'trajectory',
    paper: 'CodeVision, arXiv:2512.03746, public code',
    range: [0, 1],
    constants: { ...constants },
    with: (changed) =>
      groundedAccuracyWith({ ...constants, ...changed } as Sourced<GroundedAccuracyOptions>),
    score(trajectory, context) {
      if (!context.isCorrect) return 0;
      const record = toolRecord(trajectory, context);
      if (!record.facts.requiredTools?.includes('crop')) return 1;
      const share = mandatoryShare(record, frame);
      return share < leastShare ? share : 1;
    },
  };
}

export const groundedAccuracy: Reward = groundedAccuracyWith(groundedAccuracyVariants.paper);
