/** The state of a scheduler in a checkpoint, with the trajectories it refers to. */
import { join } from 'node:path';
import { messageOf } from '@saccade/core';
import type { Trajectory } from '@saccade/trajectory';
import { makeDirectories, writeAndFlush } from './durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { StoreError, storeError } from './store-error.ts';
import { readLooseSet, writeLooseSet } from './trajectory-set.ts';

const FOLDER = 'schedule';
const REMEDY = 'Resume from another checkpoint: move this one out of checkpoints/.';

/** A scheduler's state as it is stored in a checkpoint, with the trajectories that it refers to. */
export interface StoredSchedule {
  /** JSON; it refers to trajectories by id. */
  readonly json: unknown;
  readonly trajectories: ReadonlyMap<string, Trajectory>;
}

/** @param checkpoint directory of a checkpoint that is being written */
export function writeSchedule(
  checkpoint: string,
  { json, trajectories }: StoredSchedule,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  const folder = join(checkpoint, FOLDER);
  const path = join(folder, 'schedule.json');
  makeDirectories(fileSystem, folder);
  const all = [...trajectories.values()].map((trajectory) => ({ trajectory }));
  writeLooseSet(join(folder, 'trajectories.jsonl'), all, { fileSystem });
  try {
    writeAndFlush(fileSystem, path, `${JSON.stringify(json)}\n`);
  } catch (error) {
    throw storeError(path, error);
  }
}

/**
 * @returns undefined if the checkpoint holds none: it was written before the first step
 * @throws StoreError if any part of it cannot be read: without one of its trajectories it would be
 *   a different schedule
 */
export async function readSchedule(
  checkpoint: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Promise<StoredSchedule | undefined> {
  const folder = join(checkpoint, FOLDER);
  const path = join(folder, 'schedule.json');
  if (fileSystem.status(path) === undefined) return undefined;
  const { value, damage } = readLooseSet(join(folder, 'trajectories.jsonl'), { fileSystem });
  const trajectories = new Map<string, Trajectory>();
  const found = [...damage];
  for (const kept of value) {
    const loaded = await kept.load();
    found.push(...loaded.damage);
    trajectories.set(loaded.value.id, loaded.value);
  }
  const [first] = found;
  if (first !== undefined) throw new StoreError({ ...first, remedy: REMEDY });
  try {
    const json: unknown = JSON.parse(fileSystem.readFile(path).toString('utf8'));
    return { json, trajectories };
  } catch (error) {
    throw new StoreError({
      path,
      problem: `it cannot be read (${messageOf(error)})`,
      remedy: REMEDY,
    });
  }
}
