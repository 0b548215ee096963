/** CodeVision's reward for the tools a task cannot do without. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { type Frame, mandatoryShare, toolRecord } from './core-tools.ts';

export interface MustUseToolsOptions {
  /** Frame in which a crop is compared with the task's box. */
  readonly frame: Frame;
}

export const mustUseToolsVariants: Variants<MustUseToolsOptions> = {
  paper: { frame: sourced('canonical', 'reconstructed') },
  code: { frame: sourced('input', 'code') },
};

/**
 * A budget of 1/N for each of the N required tools: once for a turn or flip, by what the IoU gains
 * over the best so far for a crop.
 *
 *   r_mand = Σ_{turns, flips} 1/N·1{used} + (1/N)·Σ_t max(0, IoU_t − best IoU before t)
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (a). Boxes are compared in the canonical frame, as a crop
 * after a turn has coordinates of its own; the public code compares them as they are written.
 * Operations of failed executions and behind conditions that cannot be decided do not count.
 */
export function mustUseToolsWith(constants: Sourced<MustUseToolsOptions>): Reward {
  const { frame } = valuesOf(constants);
  return {
    name: 'must-use-tools',
    scope: 'trajectory',
    paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
    range: [0, 1],
    constants: { ...constants },
    with: (changed) =>
      mustUseToolsWith({ ...constants, ...changed } as Sourced<MustUseToolsOptions>),
    score: (trajectory, context) => mandatoryShare(toolRecord(trajectory, context), frame),
  };
}

export const mustUseTools: Reward = mustUseToolsWith(mustUseToolsVariants.paper);
