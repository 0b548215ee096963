import { count, quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { defineFilter, needJudge } from '../filter.ts';
import { gradeOf } from '../grade.ts';
import { validationPrompt } from '../prompts.ts';

/** Drops trajectories that a stronger model does not find sound (CodeDance validates with 72B). */
export const judge = defineFilter({
  name: 'judge',
  description: 'Drops trajectories whose reasoning and tool use a judge grades below a bound.',
  settings: z.strictObject({
    least: quantity({
      ...{ min: 0, max: 1, default: 0.5, unit: 'grade' },
      about: 'Lowest grade that is kept; the judge gives 0, 0.5 or 1.',
    }),
    maxTokens: count({
      ...{ min: 1, max: 100_000, default: 512, unit: 'tokens' },
      about: 'Longest reply of the judge.',
    }),
  }),
  async drops({ trajectory, task }, { least, maxTokens }, context) {
    const model = needJudge('the filter judge', context.judge);
    const grade = await gradeOf(model, validationPrompt(task, trajectory), {
      ...{ grades: [0, 0.5, 1], maxTokens },
      ...(context.signal && { signal: context.signal }),
    });
    if (grade === undefined) return 'the judge gave no grade';
    return grade >= least ? undefined : `the judge gave ${grade}`;
  },
});
