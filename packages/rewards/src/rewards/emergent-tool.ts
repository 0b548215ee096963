/** CodeVision's bonus for a right answer with a tool that was not required. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { toolRecord, usesOptionalTool } from './core-tools.ts';

export interface EmergentToolOptions {
  /** Whether a crop that is not required counts as an optional tool. */
  readonly countsCrop: boolean;
}

export const emergentToolVariants: Variants<EmergentToolOptions> = {
  paper: { countsCrop: sourced(true, 'reconstructed') },
  code: { countsCrop: sourced(false, 'code') },
};

/**
 * 1 if the answer is right and an optional tool was used, else 0.
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (b), weight 0.2. Turns and flips are never optional: where
 * they are not required they are inappropriate. No-ops do not count.
 */
export function emergentToolWith(constants: Sourced<EmergentToolOptions>): Reward {
  const { countsCrop } = valuesOf(constants);
  return {
    name: 'emergent-tool',
    scope: 'trajectory',
    paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
    range: [0, 1],
    constants: { ...constants },
    with: (changed) =>
      emergentToolWith({ ...constants, ...changed } as Sourced<EmergentToolOptions>),
    score(trajectory, context) {
      if (!context.isCorrect) return 0;
      return usesOptionalTool(toolRecord(trajectory, context), countsCrop) ? 1 : 0;
    },
  };
}

export const emergentTool: Reward = emergentToolWith(emergentToolVariants.paper);
