/**
 * CodeV's set for reinforcement learning (arXiv:2511.19661): questions that need outside knowledge are
 * removed, labels are cleaned, and tasks that a model nearly always answers are dropped. Groups that are
 * all right or all wrong teach nothing and are dropped too (CodeVision, arXiv:2512.03746, §3.3.1).
 */
import { flag, quantity } from '@saccade/core/settings';
import { z } from 'zod';
import { measurePassRates } from '../pass-rate.ts';
import { definePipeline, type StepCount } from '../pipeline.ts';
import { outsideKnowledgePrompt } from '../prompts.ts';
import { labels, type Screening, screenTasks } from './screen-tasks.ts';
import { weakSamplesField } from './settings.ts';
import { stepCount } from './shared.ts';

const knowledge: Screening = {
  step: 'outside knowledge',
  grades: [0, 1],
  ask: outsideKnowledgePrompt,
  keeps: (grade) => grade === 0,
  reason: 'needs outside knowledge',
};

export const codev = definePipeline({
  name: 'codev',
  description: 'CodeV’s RL set: no outside knowledge, clean labels, neither easy nor hopeless.',
  paper: 'CodeV, arXiv:2511.19661; CodeVision, arXiv:2512.03746, §3.3.1',
  needs: ['weak'],
  settings: z.strictObject({
    samples: weakSamplesField,
    mostRate: quantity({
      ...{ min: 0, max: 1, default: 0.9, unit: 'fraction' },
      about: 'Tasks that are answered right more often are dropped.',
    }),
    dropsUniform: flag({
      default: true,
      about: 'Whether tasks are dropped whose samples are all right or all wrong.',
    }),
    judges: flag({
      default: true,
      about: 'Whether a judge removes outside knowledge and wrong labels; needs a judge.',
    }),
  }),
  async run({ samples, mostRate, dropsUniform, judges }, context) {
    const { weak = context.teacher, onEvent } = context;
    const steps: StepCount[] = [];
    let { tasks } = context;
    if (judges && context.judge !== undefined) {
      for (const screening of [knowledge, labels]) {
        const screened = await screenTasks(tasks, screening, context);
        steps.push(screened.count);
        tasks = screened.kept;
      }
    } else if (judges) {
      const message = 'No judge is given: outside knowledge and wrong labels stay in the set.';
      onEvent({ kind: 'warning', message });
    }
    const passRates = await measurePassRates(tasks, { player: weak, samples }, context);
    const reasons: Record<string, number> = {};
    const kept = tasks.filter((_, index) => {
      const reason = reasonOf(passRates[index], mostRate, dropsUniform);
      if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
      return reason === undefined;
    });
    steps.push(stepCount('difficulty', tasks.length, reasons));
    return { samples: [], taskIds: kept.map(({ id }) => id), steps, facts: [], passRates };
  },
});

function reasonOf(
  rate: { readonly rate?: number } | undefined,
  mostRate: number,
  dropsUniform: boolean,
): string | undefined {
  if (rate?.rate === undefined) return 'every sample failed';
  if (dropsUniform && rate.rate === 1) return 'all right';
  if (dropsUniform && rate.rate === 0) return 'all wrong';
  return rate.rate > mostRate ? `pass rate above ${mostRate}` : undefined;
}
