/**
 * PyVision-RL's cold start (arXiv:2602.20739, §3.4): a strong model plays; wrong answers and
 * trajectories with fewer than two tool turns are dropped.
 */
import { count } from '@saccade/core/settings';
import { z } from 'zod';
import { applyFilters } from '../filter.ts';
import { failedExecutions } from '../filters/failed-executions.ts';
import { fewToolTurns } from '../filters/few-tool-turns.ts';
import { wrongAnswer } from '../filters/wrong-answer.ts';
import { definePipeline } from '../pipeline.ts';
import { playTasks } from '../play-tasks.ts';
import { perTaskField, samplesField } from './settings.ts';
import { firstOfTask, sampleOf, stepsOf } from './shared.ts';

export const pyvision = definePipeline({
  name: 'pyvision',
  description: 'PyVision-RL’s cold start: right answers after two tool turns or more.',
  paper: 'PyVision-RL, arXiv:2602.20739, §3.4',
  needs: [],
  settings: z.strictObject({
    samples: samplesField(1),
    perTask: perTaskField,
    leastToolTurns: count({
      ...{ min: 0, max: 1000, default: 2, unit: 'turns' },
      about: 'Fewest tool turns; the paper drops fewer than two.',
    }),
    failedExecutions: count({
      ...{ min: 0, max: 1000, default: 1000, unit: 'executions' },
      about: 'Most failed executions; the paper sets no limit.',
    }),
  }),
  async run({ samples, perTask, leastToolTurns, failedExecutions: most }, context) {
    const candidates = await playTasks(
      context.tasks,
      { player: context.teacher, samples, name: 'candidates' },
      context,
    );
    const filters = [
      wrongAnswer.with(),
      fewToolTurns.with({ least: leastToolTurns }),
      failedExecutions.with({ most }),
    ];
    const { kept, counts } = await applyFilters(candidates, filters, context);
    const first = firstOfTask(kept, perTask);
    return {
      samples: first.kept.map((one) => sampleOf(one)),
      steps: [...stepsOf(counts), first.count],
      facts: [],
    };
  },
});
