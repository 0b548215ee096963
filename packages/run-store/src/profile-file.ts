/** `profile.json`: where the time of a run's latest process went. For information only. */
import { join } from 'node:path';
import type { Profile, ProfiledSpan, SpanKind } from '@saccade/core';
import { writeDurably } from './durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { formatSealed, readSealed } from './sealed-json.ts';
import type { Read } from './store-error.ts';

/** A profile, what was profiled, and the process it was. */
export interface StoredProfile {
  /** For people: `pyvision-image-nano, seed 1`. */
  readonly what: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Whether kernels were timed by op, one after the other, while JavaScript waited for them. */
  readonly areLaunchesBlocking: boolean;
  /** Processor seconds of this process, all threads; those of sandboxes are not among them. */
  readonly processorSeconds: { readonly user: number; readonly system: number };
  /** Seconds in which JavaScript stood still while garbage was collected; part of other spans. */
  readonly garbageSeconds: number;
  readonly profile: Profile;
}

const REMEDY = 'It only informs: the run does without it. Profile again with --profile.';

function profileOf(directory: string): string {
  return join(directory, 'profile.json');
}

/** Whether a run, or another directory, has a profile. */
export function hasProfile(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): boolean {
  return fileSystem.status(profileOf(directory)) !== undefined;
}

/** Writes `profile.json`; replaces that of a process before. @throws StoreError */
export function writeProfile(
  directory: string,
  profile: StoredProfile,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  writeDurably(fileSystem, profileOf(directory), formatSealed('profile', { ...profile }));
}

/** Reads `profile.json`. One that is missing or damaged is reported in `damage`, never thrown. */
export function readProfile(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<StoredProfile | undefined> {
  const path = profileOf(directory);
  const { value, damage } = readSealed(fileSystem, path, 'profile', REMEDY);
  if (value === undefined) return { value, damage };
  if (isStoredProfile(value.fields)) return { value: value.fields, damage };
  const problem = 'it lacks fields of a profile, or has others of their names';
  return { value: undefined, damage: [...damage, { path, problem, remedy: REMEDY }] };
}

function isStoredProfile(value: unknown): value is StoredProfile {
  const { what, startedAt, areLaunchesBlocking, processorSeconds, garbageSeconds, profile } =
    (value ?? {}) as Partial<StoredProfile>;
  return (
    [what, startedAt].every((text) => typeof text === 'string') &&
    typeof areLaunchesBlocking === 'boolean' &&
    [processorSeconds?.user, processorSeconds?.system, garbageSeconds, profile?.seconds].every(
      (number) => typeof number === 'number',
    ) &&
    isSpan(profile?.root)
  );
}

const KINDS: readonly SpanKind[] = ['stage', 'work', 'elsewhere', 'wait'];

function isSpan(value: unknown): value is ProfiledSpan {
  const { name, kind, seconds, count, inFlightSeconds, spans } = (value ??
    {}) as Partial<ProfiledSpan>;
  return (
    typeof name === 'string' &&
    kind !== undefined &&
    KINDS.includes(kind) &&
    [seconds, count, inFlightSeconds ?? 0].every((number) => typeof number === 'number') &&
    Array.isArray(spans) &&
    spans.every(isSpan)
  );
}
