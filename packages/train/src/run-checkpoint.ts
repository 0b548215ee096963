/** A run's checkpoints: policy with optimizer, and where the run stands. */
import { join } from 'node:path';
import { checkpointDirectory, writeCheckpoint } from './checkpoint.ts';
import { type Run, totalSteps } from './run.ts';
import { writeState } from './run-state.ts';

export function checkpointsOf(directory: string): string {
  return join(directory, 'checkpoints');
}

/** The weights reinforcement learning starts from; their checkpoint is always kept. */
export function coldStartOf({ directory, state }: Pick<Run, 'directory' | 'state'>): string {
  return join(checkpointDirectory(checkpointsOf(directory), state.sftUpdates), 'policy');
}

/** Writes a checkpoint of the run as it stands; the log is on the disk before it. */
export async function saveRun(
  run: Run,
  options: { readonly pinned?: boolean } = {},
): Promise<void> {
  run.state = { ...run.state, metricsBytes: run.log.flush() };
  await writeCheckpoint(
    checkpointsOf(run.directory),
    totalSteps(run.state),
    async (directory) => {
      await run.parts.policy.save(join(directory, 'policy'), { optimizer: true });
      writeState(directory, run.state);
      await run.saveSchedule?.(directory);
    },
    { keep: run.config.checkpoint.keep, pinned: options.pinned ?? false },
  );
}
