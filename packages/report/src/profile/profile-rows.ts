/** A profile as rows of text, for a terminal and for the page. */
import { groupsOf, type ProfilePart } from '@saccade/core';
import type { StoredProfile } from '@saccade/run-store';
import { formatSeconds, formatShare } from './numbers.ts';

/** One row: a group of spans, or one of the spans in it. */
export interface ProfileRow {
  readonly name: string;
  readonly kind: ProfilePart['kind'];
  readonly isGroup: boolean;
  readonly share: number;
  /** Share, seconds, count and seconds in flight; '' where there are none. */
  readonly cells: readonly [share: string, seconds: string, count: string, inFlight: string];
}

/** Titles of the cells. */
export const profileColumns = ['share', 'seconds', 'count', 'in flight, s'] as const;

/** Parts of a group below this share of the whole are left out: `profile.json` has them. */
const LEAST_SHARE = 0.001;

/** Groups, largest first, and under each its parts. The shares of the groups add up to 100 %. */
export function profileRows({ profile }: Pick<StoredProfile, 'profile'>): readonly ProfileRow[] {
  return groupsOf(profile).flatMap((group) => {
    const parts = group.parts.filter(({ share }) => share >= LEAST_SHARE);
    const isAlone = group.parts.length === 1 && group.parts[0]?.name === group.name;
    return [
      rowOf(group, group.name, true),
      ...(isAlone ? [] : parts.map((part) => rowOf(part, inGroup(part.name), false))),
    ];
  });
}

function inGroup(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

function rowOf(part: ProfilePart, name: string, isGroup: boolean): ProfileRow {
  const { kind, share, seconds, count, inFlightSeconds } = part;
  return {
    ...{ name, kind, isGroup, share },
    cells: [
      formatShare(share),
      formatSeconds(seconds),
      count > 0 ? count.toLocaleString('en') : '',
      inFlightSeconds === undefined ? '' : formatSeconds(inFlightSeconds),
    ],
  };
}

/** What a profile is of and how it was taken, in sentences. */
export function describeProfile(stored: StoredProfile): readonly string[] {
  const { what, profile, processorSeconds, garbageSeconds, areLaunchesBlocking } = stored;
  const processor = processorSeconds.user + processorSeconds.system;
  const mean = profile.seconds > 0 ? processor / profile.seconds : 0;
  const launches = areLaunchesBlocking
    ? 'Each kernel ran while JavaScript waited for it, so that it could be timed.'
    : 'Kernels were queued: their time is not known by op.';
  return [
    `${what}: ${formatSeconds(profile.seconds)} s by the clock. ${launches}`,
    `Processors: ${formatSeconds(processor)} s of this process, ${mean.toFixed(2)} at a time. ` +
      `JavaScript stood still for ${formatSeconds(garbageSeconds)} s of garbage collection.`,
  ];
}
