/**
 * CodeV's set for reinforcement learning (arXiv:2511.19661): questions that need outside knowledge are
 * removed, labels are cleaned, and tasks that a model nearly always answers are dropped. Groups that are
 * all right or all wrong teach nothing and are dropped too (CodeVision, arXiv:2512.03746, §3.3.1).
 */
import { flag, quantity } from '@saccade/core/settings';
import type { Task } from '@saccade/gym';
import { z } from 'zod';
import type { SynthesisContext } from '../context.ts';
import { needJudge } from '../filter.ts';
import { gradeOf } from '../grade.ts';
import { measurePassRates } from '../pass-rate.ts';
import { definePipeline, type StepCount } from '../pipeline.ts';
import { outsideKnowledgePrompt, questionPrompt } from '../prompts.ts';
import { weakSamplesField } from './settings.ts';
import { stepCount } from './shared.ts';

/** Longest reply of the judge, tokens. */
const REPLY_TOKENS = 512;

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
      const knowledge = await sort('outside knowledge', tasks, outsideKnowledgePrompt, 0, context);
      const labels = await sort('labels', knowledge.kept, questionPrompt, 1, context);
      steps.push(knowledge.count, labels.count);
      tasks = labels.kept;
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

/** The tasks that a judge gives the wanted grade. */
async function sort(
  step: string,
  tasks: readonly Task[],
  ask: typeof questionPrompt,
  wanted: number,
  { judge, signal, onEvent }: SynthesisContext,
): Promise<{ readonly kept: readonly Task[]; readonly count: StepCount }> {
  const model = needJudge(step, judge);
  let done = 0;
  const grades = await Promise.all(
    tasks.map(async (task) => {
      const options = { grades: [0, 1], maxTokens: REPLY_TOKENS, ...(signal && { signal }) };
      const grade = await gradeOf(model, ask(task), options);
      onEvent({ kind: 'progress', stage: step, done: ++done, total: tasks.length });
      return grade;
    }),
  );
  const none = grades.filter((grade) => grade === undefined).length;
  const other = grades.filter((grade) => grade !== undefined && grade !== wanted).length;
  const reasons = {
    ...(other > 0 && {
      [wanted === 1 ? 'label or question is bad' : 'needs outside knowledge']: other,
    }),
    ...(none > 0 && { 'the judge gave no grade': none }),
  };
  const kept = tasks.filter((_, index) => grades[index] === wanted);
  return { kept, count: stepCount(step, tasks.length, reasons) };
}
