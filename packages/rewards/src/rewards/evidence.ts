/** CodeV's reward for tool calls that show evidence. */
import { DataError } from '@saccade/core';
import { quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import { taskFacts } from '../task-facts.ts';
import { redlinesOf } from './redlines.ts';

const settings = z.strictObject({
  redlineScore: quantity({
    min: -10,
    max: 0,
    default: -0.5,
    unit: 'reward',
    about: 'r_t of a step that crosses a redline; 0 turns redlines off.',
  }),
  idleScore: quantity({
    min: -1,
    max: 1,
    default: 0,
    unit: 'reward',
    about: 'r_t of other steps if the task needs no search.',
  }),
  wholeShare: quantity({
    min: 0,
    max: 1,
    default: 0.9,
    unit: 'fraction',
    about: 'A crop of this share of its image or more shows nothing new.',
  }),
  repeatedIou: quantity({
    min: 0,
    max: 1,
    default: 0.95,
    unit: 'IoU',
    about: 'A crop with this IoU or more with an earlier one shows nothing new.',
  }),
});

/**
 * The mean over executions of what each shows.
 *
 *   r_tool = (1/|T_tool|)·Σ_{t ∈ T_tool} r_t;   0 without executions
 *   r_t = redlineScore if a redline is crossed, else idleScore if the task needs no search
 *         (metadata.needsSearch is false), else the judge's score of the step
 *
 * CodeV, arXiv:2511.19661, eq. 6; λ_tool 0.5 from its code. The judge sees only the question and
 * the output of a step; its scores are an input (`stepScores`). Redlines are decided here, without it.
 *
 * @throws DataError for a step that needs a judge's score and has none
 */
export const evidence = defineReward({
  name: 'evidence',
  scope: 'trajectory',
  description: 'The mean of a judge’s grades of what each execution shows; negative for misuse.',
  paper: 'CodeV, arXiv:2511.19661, eq. 6',
  settings,
  origins: {
    redlineScore: 'reconstructed',
    idleScore: 'paper',
    wholeShare: 'reconstructed',
    repeatedIou: 'reconstructed',
  },
  range: ({ redlineScore, idleScore }) => [Math.min(0, redlineScore, idleScore), 1],
  needs: ['stepScores'],
  score(trajectory, context, values) {
    const redlines = redlinesOf(trajectory, context, values);
    if (redlines.length === 0) return 0;
    const { needsSearch = true } = taskFacts(context);
    const steps = redlines.map((lines, step) => {
      if (lines.length > 0 && values.redlineScore !== 0) return values.redlineScore;
      if (!needsSearch) return values.idleScore;
      const score = context.stepScores?.[step];
      if (score !== undefined && score >= 0 && score <= 1) return score;
      throw new DataError(
        `evidence: step ${step} has the score ${score}, expected a judge's from 0 to 1. ` +
          'Score the trajectory with a judge of steps, or leave this term out.',
      );
    });
    return steps.reduce((sum, step) => sum + step, 0) / steps.length;
  },
});
