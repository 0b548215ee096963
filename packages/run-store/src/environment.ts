/**
 * `environment.json`: what a run ran on, and when it was started and resumed. For information only.
 */
import { join } from 'node:path';
import { writeDurably } from './durable-files.ts';
import { type FileSystem, type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { hasManifest } from './manifest.ts';
import { formatSealed, readSealed, refuseUnsealed } from './sealed-json.ts';
import { type Damage, damageOf, type Read } from './store-error.ts';

/** One start of a process on a run. */
export interface Attempt {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Step of the checkpoint that it resumed from; 0 for a fresh start. */
  readonly fromStep: number;
}

/** Facts about the machine and the versions of the latest attempt, and all attempts. */
export interface Environment {
  readonly startedAt: string;
  readonly attempts: readonly Attempt[];
  readonly [fact: string]: unknown;
}

const REMEDY = 'It only informs: the run goes on without it, and earlier attempts are not listed.';

/**
 * Reads `environment.json`. A file that is missing or damaged is reported in `damage`, never
 * thrown: nothing depends on it.
 */
export function readEnvironment(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<Environment | undefined> {
  return readFacts(fileSystem, directory, hasManifest(fileSystem, directory));
}

function readFacts(
  fileSystem: FileSystem,
  directory: string,
  isSealedRun: boolean,
): Read<Environment | undefined> {
  const path = join(directory, 'environment.json');
  const read = readSealed(fileSystem, path, 'environment', REMEDY);
  const { value, damage } = refuseUnsealed(path, read, isSealedRun, REMEDY);
  if (value === undefined) return { value, damage };
  const { attempts, startedAt } = value.fields;
  const environment = {
    ...value.fields,
    startedAt: typeof startedAt === 'string' ? startedAt : '',
    attempts: Array.isArray(attempts) ? attempts.filter(isAttempt) : [],
  };
  return { value: environment, damage };
}

function isAttempt(value: unknown): value is Attempt {
  const { startedAt, fromStep } = (value ?? {}) as Partial<Attempt>;
  return typeof startedAt === 'string' && typeof fromStep === 'number';
}

/**
 * Adds an attempt. This file never stops a run: what cannot be read or written is returned.
 *
 * @param facts JSON; replaces those of the attempt before
 */
export function recordAttempt(
  directory: string,
  facts: Readonly<Record<string, unknown>>,
  fromStep: number,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): readonly Damage[] {
  const path = join(directory, 'environment.json');
  const damage: Damage[] = [];
  try {
    const isThere = fileSystem.status(path) !== undefined;
    // That of a run of format 1 is taken over: its configuration may be sealed by now.
    const before = isThere ? readFacts(fileSystem, directory, false) : undefined;
    damage.push(...(before?.damage ?? []));
    const attempt: Attempt = { startedAt: new Date().toISOString(), fromStep };
    const attempts = [...(before?.value?.attempts ?? []), attempt];
    const environment = { ...facts, startedAt: attempt.startedAt, attempts };
    writeDurably(fileSystem, path, formatSealed('environment', environment));
  } catch (error) {
    damage.push({ ...damageOf(path, error), remedy: REMEDY });
  }
  return damage;
}
