/** Tasks that a judge finds fit, before anything is played. */
import type { Task } from '@saccade/gym';
import type { SynthesisContext } from '../context.ts';
import { needJudge } from '../filter.ts';
import { type Asked, gradeOf } from '../grade.ts';
import type { StepCount } from '../pipeline.ts';
import { questionPrompt } from '../prompts.ts';
import { stepCount } from './shared.ts';

/** Longest reply of the judge, tokens. */
const REPLY_TOKENS = 512;

/** One question about every task. */
export interface Screening {
  readonly step: string;
  readonly grades: readonly number[];
  ask(task: Task): Asked;
  /** Whether a task of this grade is kept. */
  keeps(grade: number): boolean;
  /** Why the others are dropped. */
  readonly reason: string;
}

/** Whether question, answer and image go together. */
export const labels: Screening = {
  step: 'labels',
  grades: [0, 1],
  ask: questionPrompt,
  keeps: (grade) => grade === 1,
  reason: 'label or question is bad',
};

/** The tasks whose grade is fit, in order. @throws ConfigError without a judge */
export async function screenTasks(
  tasks: readonly Task[],
  { step, grades, ask, keeps, reason }: Screening,
  { judge, signal, onEvent }: SynthesisContext,
): Promise<{ readonly kept: readonly Task[]; readonly count: StepCount }> {
  const model = needJudge(step, judge);
  let done = 0;
  const given = await Promise.all(
    tasks.map(async (task) => {
      const options = { grades, maxTokens: REPLY_TOKENS, ...(signal && { signal }) };
      const grade = await gradeOf(model, ask(task), options);
      onEvent({ kind: 'progress', stage: step, done: ++done, total: tasks.length });
      return grade;
    }),
  );
  const none = given.filter((grade) => grade === undefined).length;
  const unfit = given.filter((grade) => grade !== undefined && !keeps(grade)).length;
  const reasons = {
    ...(unfit > 0 && { [reason]: unfit }),
    ...(none > 0 && { 'the judge gave no grade': none }),
  };
  const kept = tasks.filter((_, index) => {
    const grade = given[index];
    return grade !== undefined && keeps(grade);
  });
  return { kept, count: stepCount(step, tasks.length, reasons) };
}
