/** The thread: one job at a time, answered with its value or the reason why there is none. */
import { parentPort } from 'node:worker_threads';
import { SaccadeError } from '@saccade/core';
import type { MathAnswer } from '../mathematics/math-answer.ts';
import type { ComputeJob, ComputeReply } from './jobs.ts';

parentPort?.on('message', async (job: ComputeJob) => {
  parentPort?.postMessage(await answer(job));
});

async function answer(job: ComputeJob): Promise<ComputeReply> {
  try {
    return { ok: true, value: await run(job) };
  } catch (error) {
    // Report impossible questions and statements; any other error is a defect and ends the thread.
    const isReason = error instanceof SaccadeError && ['cdl', 'mathematics'].includes(error.code);
    if (!isReason && !(error instanceof RangeError)) throw error;
    return { ok: false, type: 'CannotAnswer', message: (error as Error).message };
  }
}

async function run(job: ComputeJob): Promise<unknown> {
  // Each kind loads only what it needs: the algebra systems take half a second.
  if (job.kind === 'mathematics') {
    const { solveMath } = await import('../mathematics/solve-math.ts');
    const found = solveMath(job.question);
    return { ...found, choice: await chosen(found, job.choices) };
  }
  const { solveProblem } = await import('../geometry/solve-problem.ts');
  const found = solveProblem(job.problem);
  const [first] = found.answers;
  const answer = {
    answer: first?.text ?? '',
    values: first?.value === undefined ? [] : [first.value],
    steps: [],
  };
  return { ...found, choice: await chosen(answer, job.choices) };
}

async function chosen(answer: MathAnswer, choices: readonly string[]): Promise<number | undefined> {
  if (choices.length === 0) return undefined;
  const { choiceOf } = await import('../mathematics/answer-text.ts');
  return choiceOf(answer, choices);
}
