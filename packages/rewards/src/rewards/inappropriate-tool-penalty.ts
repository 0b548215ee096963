/** CodeVision's penalty for turning a picture that stands upright. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { orientationTools, toolRecord } from './core-tools.ts';

export interface InappropriateToolPenaltyOptions {
  /** Whether it is about tasks that require no turn or flip, or about those that require nothing. */
  readonly forAnyUpright: boolean;
  /** Whether every different turn or flip counts, or all of them once. */
  readonly isCounted: boolean;
}

export const inappropriateToolPenaltyVariants: Variants<InappropriateToolPenaltyOptions> = {
  paper: { forAnyUpright: sourced(false, 'paper'), isCounted: sourced(false, 'paper') },
  code: { forAnyUpright: sourced(true, 'code'), isCounted: sourced(true, 'code') },
};

/**
 * Negative for turns and flips where none is called for.
 *
 *   paper: −1{nothing required, a turn or flip used};   code: −|different turns and flips used|
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (constraint penalties), weight 0.5. 0 for a task that does not
 * say which tools it requires.
 */
export function inappropriateToolPenaltyWith(
  constants: Sourced<InappropriateToolPenaltyOptions>,
): Reward {
  const { forAnyUpright, isCounted } = valuesOf(constants);
  return {
    name: 'inappropriate-tool-penalty',
    scope: 'trajectory',
    paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
    range: [isCounted ? -orientationTools.size : -1, 0],
    constants: { ...constants },
    with: (changed) =>
      inappropriateToolPenaltyWith({
        ...constants,
        ...changed,
      } as Sourced<InappropriateToolPenaltyOptions>),
    score(trajectory, context) {
      const { facts, core } = toolRecord(trajectory, context);
      const { requiredTools } = facts;
      if (requiredTools === undefined) return 0;
      const isUpright = forAnyUpright
        ? !requiredTools.some((kind) => orientationTools.has(kind))
        : requiredTools.length === 0;
      if (!isUpright) return 0;
      const used = new Set(
        core.map(({ kind }) => kind).filter((kind) => orientationTools.has(kind)),
      );
      if (used.size === 0) return 0;
      return isCounted ? -used.size : -1;
    },
  };
}

export const inappropriateToolPenalty: Reward = inappropriateToolPenaltyWith(
  inappropriateToolPenaltyVariants.paper,
);
