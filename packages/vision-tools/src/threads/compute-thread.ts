/** The thread: one job at a time, answered with its value or the reason why there is none. */
import { parentPort } from 'node:worker_threads';
import { SaccadeError } from '@saccade/core';
import type { ComputeJob, ComputeReply } from './jobs.ts';

parentPort?.on('message', async (job: ComputeJob) => {
  parentPort?.postMessage(await answer(job));
});

async function answer(job: ComputeJob): Promise<ComputeReply> {
  try {
    return { ok: true, value: await run(job) };
  } catch (error) {
    // What a question or a statement cannot be is said; any other error is a defect, and ends the thread.
    const isReason = error instanceof SaccadeError && ['cdl', 'mathematics'].includes(error.code);
    if (!isReason && !(error instanceof RangeError)) throw error;
    return { ok: false, type: 'CannotAnswer', message: (error as Error).message };
  }
}

async function run(job: ComputeJob): Promise<unknown> {
  // Each kind loads only what it needs: the algebra systems take half a second.
  if (job.kind === 'geometry') {
    const { solveProblem } = await import('../geometry/solve-problem.ts');
    return solveProblem(job.problem);
  }
  const { solveMath } = await import('../mathematics/solve-math.ts');
  const { choiceOf } = await import('../mathematics/answer-text.ts');
  const found = solveMath(job.question);
  return { ...found, choice: choiceOf(found, job.choices) };
}
