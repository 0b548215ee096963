/** A checkpoint of a run, with what lies outside of it on the disk first. */
import { join } from 'node:path';
import { checkpointsOf, writeCheckpoint } from './checkpoint.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { updateManifest } from './manifest.ts';
import { type MetricsLog, openMetricsLog } from './metrics-log.ts';
import { type RunState, writeState } from './state.ts';

/** Options of `saveCheckpoint`. */
export interface SaveOptions extends FileSystemOption {
  readonly log: MetricsLog;
  /** Newest unpinned checkpoints to keep. */
  readonly keep: number;
  readonly pinned: boolean;
  /**
   * Writes weights and whatever else resuming needs into the checkpoint's directory. Gives where the
   * run stands at that moment: one that rolls out while it saves goes on.
   */
  readonly fill: (directory: string) => Promise<RunState>;
  /** Gives back what a checkpoint has elsewhere, before its directory is removed. */
  readonly release?: (directory: string) => Promise<void>;
}

/** The end of the metrics in a checkpoint. */
export type LogPosition = Pick<RunState, 'metricsBytes' | 'metricsLink'>;

/**
 * Writes the checkpoint of a run as it stands. Metrics reach the disk before it, and files of
 * trajectories have when they were written; then comes the checkpoint, then the manifest of the run,
 * and only then old checkpoints go.
 *
 * @param step updates and steps that are done
 * @returns the end of the metrics that it holds
 * @throws StoreError if it cannot be written; earlier checkpoints are untouched
 */
export async function saveCheckpoint(
  directory: string,
  step: number,
  { log, keep, pinned, fill, fileSystem = nodeFileSystem, release }: SaveOptions,
): Promise<LogPosition> {
  const { sizeBytes, link } = log.flush();
  const position = { metricsBytes: sizeBytes, metricsLink: link };
  await writeCheckpoint(
    checkpointsOf(directory),
    step,
    async (temporary) => {
      const state = await fill(temporary);
      writeState(temporary, { ...state, ...position }, { fileSystem });
    },
    {
      keep,
      pinned,
      fileSystem,
      ...(release && { release }),
      beforeRemoval: (checkpoints) =>
        updateManifest(fileSystem, directory, (before) => ({
          ...before,
          metricsBytes: sizeBytes,
          checkpoints,
        })),
    },
  );
  return position;
}

/**
 * Opens the log of a run at a state: that of the checkpoint it continues from, or `initialState`.
 * The manifest forgets what is done again before anything of it is cut off.
 *
 * @throws StoreError if the log cannot be opened
 */
export function openRunLog(
  directory: string,
  state: RunState,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): MetricsLog {
  const { metricsBytes, metricsLink } = state;
  const step = state.sftUpdates + state.rlSteps;
  updateManifest(fileSystem, directory, (before) => ({
    ...before,
    metricsBytes: Math.min(before.metricsBytes, metricsBytes),
    checkpoints: before.checkpoints.filter((one) => one <= step),
  }));
  const from = { sizeBytes: metricsBytes, ...(metricsLink !== undefined && { link: metricsLink }) };
  return openMetricsLog(join(directory, 'metrics.jsonl'), { from, fileSystem });
}
