/** The end of every step of reinforcement learning: its row, evaluation, a stop, a checkpoint. */

import { evaluate } from '@saccade/eval';
import { logRow, totalSteps } from '@saccade/run-store';
import { Interrupted, type Run } from './run.ts';
import { saveRun } from './run-checkpoint.ts';

/**
 * Logs a step that is done, and does what is due after it.
 *
 * @throws Interrupted if a stop was asked for; the checkpoint is written
 */
export async function afterStep(
  run: Run,
  row: Readonly<Record<string, number>>,
  seconds: number,
): Promise<void> {
  const { rl, evaluation, checkpoint } = run.config;
  logRow(run, {
    stage: 'rl',
    step: totalSteps(run.state),
    ...row,
    'throughput/trajectories_per_second': (row.trained_trajectories ?? 0) / seconds,
    step_time: seconds,
  });
  const { rlSteps } = run.state;
  run.onEvent({ kind: 'progress', stage: 'learning', done: rlSteps, total: rl.steps });
  const isLast = rlSteps === rl.steps;
  const isDue = (every: number) => every > 0 && rlSteps % every === 0 && !isLast;
  if (isDue(evaluation.everySteps)) await evaluate(run, `step-${rlSteps}`);
  if (run.isStopRequested()) {
    await saveRun(run);
    throw new Interrupted();
  }
  if (isDue(checkpoint.everyRlSteps)) await saveRun(run);
}
