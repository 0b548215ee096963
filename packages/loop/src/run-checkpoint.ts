/** A run's checkpoints: policy with optimizer, schedule, and where the run stands. */
import { join } from 'node:path';
import { stage } from '@saccade/core';
import { checkpointDirectory, checkpointsOf, saveCheckpoint, totalSteps } from '@saccade/run-store';
import type { Run } from './run.ts';

/** The weights reinforcement learning starts from; their checkpoint is always kept. */
export function coldStartOf({ directory, state }: Pick<Run, 'directory' | 'state'>): string {
  return join(checkpointDirectory(checkpointsOf(directory), state.sftUpdates), 'policy');
}

/** Writes a checkpoint of the run as it stands; the log is on the disk before it. */
export async function saveRun(
  run: Run,
  options: { readonly pinned?: boolean } = {},
): Promise<void> {
  const { policy } = run.parts;
  const save = () =>
    saveCheckpoint(run.directory, totalSteps(run.state), {
      log: run.log,
      keep: run.config.checkpoint.keep,
      pinned: options.pinned ?? false,
      fill: async (directory) => {
        await policy.save(join(directory, 'policy'), { optimizer: true });
        // Rollouts go on meanwhile and take tasks: the schedule and the state are of one moment.
        const schedule = run.saveSchedule?.(directory);
        const { state } = run;
        await schedule;
        return state;
      },
      release: async (directory) => await policy.forget?.(join(directory, 'policy')),
    });
  const position = await stage('checkpoint', save, { rest: 'files/checkpoint' });
  run.state = { ...run.state, ...position };
}
