/** CodeV's reward for tool calls that show evidence. */
import { DataError } from '@saccade/core';
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { taskFacts } from '../task-facts.ts';
import { redlinesOf } from './redlines.ts';

export interface EvidenceOptions {
  /** r_t of a step that crosses a redline; 0 for no redlines. */
  readonly redlineScore: number;
  /** r_t of other steps where no search is needed. */
  readonly idleScore: number;
}

export const evidenceVariants: Variants<EvidenceOptions> = {
  paper: {
    redlineScore: sourced(-0.5, 'reconstructed'),
    idleScore: sourced(0, 'paper'),
  },
  // Its judge scores the trajectory once: see `judged-process`.
  code: { redlineScore: sourced(0, 'code'), idleScore: sourced(0, 'code') },
};

/**
 * The mean over executions of what each showed.
 *
 *   r_tool = (1/|T_tool|)·Σ_{t ∈ T_tool} r_t;   0 without executions
 *   r_t = redlineScore if a redline is crossed, else idleScore if the task needs no search
 *         (metadata.needsSearch is false), else the judge's score of the step
 *
 * CodeV, arXiv:2511.19661, eq. 6; λ_tool 0.5 from its code. The judge sees question and output of a
 * step alone: its scores are given (`stepScores`), redlines are decided here, without it.
 *
 * @throws DataError for a step that needs a judge's score and has none
 */
export function evidenceWith(constants: Sourced<EvidenceOptions>): Reward {
  const { redlineScore, idleScore } = valuesOf(constants);
  return {
    name: 'evidence',
    scope: 'trajectory',
    paper: 'CodeV, arXiv:2511.19661, eq. 6',
    range: [Math.min(0, redlineScore), 1],
    needs: ['stepScores'],
    constants: { ...constants },
    with: (changed) => evidenceWith({ ...constants, ...changed } as Sourced<EvidenceOptions>),
    score(trajectory, context) {
      const redlines = redlinesOf(trajectory, context);
      if (redlines.length === 0) return 0;
      const { needsSearch = true } = taskFacts(context);
      const steps = redlines.map((lines, step) => {
        if (lines.length > 0 && redlineScore !== 0) return redlineScore;
        if (!needsSearch) return idleScore;
        const score = context.stepScores?.[step];
        if (score !== undefined && score >= 0 && score <= 1) return score;
        throw new DataError(
          `evidence: step ${step} has the score ${score}, expected a judge's from 0 to 1. ` +
            'Score the trajectory with a judge of steps, or leave this term out.',
        );
      });
      return steps.reduce((sum, step) => sum + step, 0) / steps.length;
    },
  };
}

export const evidence: Reward = evidenceWith(evidenceVariants.paper);
