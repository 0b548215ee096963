/** Drops whole groups, with the reason. */
import type { AdvantagedGroup } from '../advantaged-group.ts';
import type { DropReason } from '../scheduler.ts';
import { isBroken } from './broken.ts';
import { passRate } from './pass-rate.ts';

/** Why to drop a group; undefined to keep it. */
export type GroupFilter = (group: AdvantagedGroup) => DropReason | undefined;

/** Drops a group of which every trajectory is broken. */
export function dropAllBroken(group: AdvantagedGroup): DropReason | undefined {
  return group.trajectories.every(isBroken) ? 'allBroken' : undefined;
}

/** Drops a group whose rewards are equal except for rounding noise: its advantages are 0. */
export function dropUniform(group: AdvantagedGroup): DropReason | undefined {
  return group.std === 0 ? 'uniformGroup' : undefined;
}

/** The first reason any filter has, in order. */
export function firstReason(
  group: AdvantagedGroup,
  filters: readonly GroupFilter[],
): DropReason | undefined {
  for (const filter of filters) {
    const reason = filter(group);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Drops a group whose answers are all right or all wrong, whatever else is rewarded. */
export function dropUnanimous(group: AdvantagedGroup): DropReason | undefined {
  const rate = passRate(group);
  return rate === 0 || rate === 1 ? 'uniformGroup' : undefined;
}
