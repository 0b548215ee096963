/** The model that `saccade eval` evaluates: a checkpoint of a run, opened to be sampled from. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { DataError, type EventSink } from '@saccade/core';
import type { DrawOptions } from '@saccade/eval';
import {
  type Checkpoint,
  checkpointsOf,
  type EvaluatedModel,
  findLatestCheckpoint,
  verifyCheckpoint,
  weightsIdentity,
} from '@saccade/run-store';
import { openParts, type ResolvedRun } from '@saccade/train';

/** A model that is open, with the run whose settings it was trained with. */
export interface OpenModel {
  readonly identity: EvaluatedModel;
  readonly run: ResolvedRun;
  readonly sampler: DrawOptions['sampler'];
  readonly images: DrawOptions['images'];
  dispose(): Promise<void>;
}

/** Where a checkpoint lies, and the run that it belongs to. */
export interface LocatedCheckpoint {
  readonly runDirectory: string;
  readonly checkpoint: Checkpoint;
}

/**
 * The checkpoint that a path means: itself, or the newest one of a run.
 *
 * @throws DataError for a path that is neither, or a run without a valid checkpoint
 */
export function locateCheckpoint(path: string, onEvent: EventSink): LocatedCheckpoint {
  if (!existsSync(path)) {
    throw new DataError(`There is no ${path}. Give a run or one of its checkpoints.`);
  }
  // <run>/checkpoints/step-000600
  const isCheckpoint =
    !existsSync(join(path, 'config.json')) && basename(dirname(path)) === 'checkpoints';
  const runDirectory = isCheckpoint ? resolve(path, '..', '..') : path;
  const checkpoint = isCheckpoint
    ? verifyCheckpoint(path)
    : findLatestCheckpoint(checkpointsOf(path), onEvent);
  if (checkpoint === undefined) throw new DataError(`${path} has no valid checkpoint to evaluate.`);
  return { runDirectory, checkpoint };
}

/** Opens a checkpoint to be sampled from. */
export async function openCheckpoint(
  { runDirectory, checkpoint }: LocatedCheckpoint,
  run: ResolvedRun,
  options: {
    readonly python: () => Promise<string>;
    readonly onEvent: EventSink;
    readonly directory: string;
  },
): Promise<OpenModel> {
  const weights = join(checkpoint.directory, 'policy');
  const parts = await openParts(run, options);
  try {
    await parts.policy.load(weights, { optimizer: true });
    await parts.syncSampler();
    return {
      identity: {
        kind: 'checkpoint',
        label: `${basename(runDirectory)}, step ${checkpoint.step}`,
        identity: weightsIdentity(weights),
        source: relative(process.cwd(), checkpoint.directory) || '.',
        step: checkpoint.step,
      },
      run,
      sampler: parts.sampler,
      images: parts.images,
      dispose: () => parts.dispose(),
    };
  } catch (error) {
    await parts.dispose();
    throw error;
  }
}
