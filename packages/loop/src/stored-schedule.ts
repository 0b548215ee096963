/** A scheduler's memory between steps, in a checkpoint: its state and the trajectories in it. */
import type { DataError } from '@saccade/core';
import {
  readSchedule as readStored,
  StoreError,
  writeSchedule as writeStored,
} from '@saccade/run-store';
import { formatState, parseState } from '@saccade/schedulers';
import { isScored, type Trajectory } from '@saccade/trajectory';

/** The stored data. `More` is JSON; it names the trajectories that it means by their ids. */
export interface StoredSchedule<More> {
  /** The scheduler's state. */
  readonly state: unknown;
  readonly more: More;
  /** Trajectories besides those in the state. */
  readonly trajectories: readonly Trajectory[];
}

export async function writeSchedule<More>(
  checkpoint: string,
  { state, more, trajectories }: StoredSchedule<More>,
): Promise<void> {
  const formatted = formatState(state);
  const all = new Map(
    [...formatted.trajectories, ...trajectories].map((one) => [one.id, one] as const),
  );
  writeStored(checkpoint, { json: { scheduler: formatted.json, more }, trajectories: all });
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
  const stored = await readStored(checkpoint);
  if (stored === undefined) return undefined;
  const { scheduler, more } = stored.json as { readonly scheduler: string; readonly more: More };
  const missing = (id: string): DataError =>
    new StoreError({
      path: checkpoint,
      problem: `its schedule needs trajectory ${id}, which is not beside it`,
      remedy: 'Resume from another checkpoint: move this one out of checkpoints/.',
    });
  const state = parseState(scheduler, (id) => {
    const found = stored.trajectories.get(id);
    return found !== undefined && isScored(found) ? found : undefined;
  });
  const find = (id: string): Trajectory => {
    const found = stored.trajectories.get(id);
    if (found !== undefined) return found;
    throw missing(id);
  };
  return { state, more, find };
}
