/** What a scheduler remembers between steps, in a checkpoint: its state and the trajectories in it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import { formatState, parseState } from '@saccade/schedulers';
import { isScored, type Trajectory } from '@saccade/trajectory';
import { openTrajectoryWriter, readTrajectories } from '@saccade/trajectory/files';

const FOLDER = 'schedule';

/** What is kept. `More` is JSON; the trajectories it means, it names by their ids. */
export interface StoredSchedule<More> {
  /** Of the scheduler. */
  readonly state: unknown;
  readonly more: More;
  /** Beside those in the state. */
  readonly trajectories: readonly Trajectory[];
}

export async function writeSchedule<More>(
  checkpoint: string,
  { state, more, trajectories }: StoredSchedule<More>,
): Promise<void> {
  // Taken apart at once: what is written is one moment, however long writing takes.
  const formatted = formatState(state);
  const json = JSON.stringify({ scheduler: formatted.json, more });
  const all = new Map(
    [...formatted.trajectories, ...trajectories].map((one) => [one.id, one] as const),
  );
  const folder = join(checkpoint, FOLDER);
  mkdirSync(folder, { recursive: true });
  const writer = await openTrajectoryWriter(join(folder, 'trajectories.jsonl'), { startAt: 0 });
  try {
    for (const trajectory of all.values()) await writer.write(trajectory);
  } finally {
    await writer.close();
  }
  writeFileSync(join(folder, 'schedule.json'), `${json}\n`);
}

/**
 * @returns undefined if the checkpoint holds none: it was written before the first step
 * @throws DataError if it cannot be read
 */
export async function readSchedule<More>(
  checkpoint: string,
): Promise<
  { readonly state: unknown; readonly more: More; find(id: string): Trajectory } | undefined
> {
  const path = join(checkpoint, FOLDER, 'schedule.json');
  if (!existsSync(path)) return undefined;
  const all = new Map<string, Trajectory>();
  for await (const { trajectory } of readTrajectories(
    join(checkpoint, FOLDER, 'trajectories.jsonl'),
  )) {
    all.set(trajectory.id, trajectory);
  }
  let stored: { readonly scheduler: string; readonly more: More };
  try {
    stored = JSON.parse(readFileSync(path, 'utf8')) as typeof stored;
  } catch (error) {
    throw new DataError(`${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
  const state = parseState(stored.scheduler, (id) => {
    const found = all.get(id);
    return found !== undefined && isScored(found) ? found : undefined;
  });
  const find = (id: string): Trajectory => {
    const found = all.get(id);
    if (found !== undefined) return found;
    throw new DataError(`${path} needs trajectory ${id}, which is not beside it.`);
  };
  return { state, more: stored.more, find };
}
