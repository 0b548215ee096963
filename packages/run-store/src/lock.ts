/**
 * One process per run directory. The lock is the file `lock`; it says who holds it, and counts only
 * while that process lives.
 *
 * A lock of a dead process is taken over without a moment in which two can hold it: whoever wants the
 * place of lock X first links the name `lock.after-X`, which only one can, then looks whether X is
 * still the lock, and only then renames its own over it. X is never used again as a name, so a taker
 * that was slow finds another lock in place and steps back. A taker that dies between the two is
 * followed in the same way.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { StateError } from '@saccade/core';
import { makeDirectories, removeQuietly, writeAll } from './durable-files.ts';
import { type FileSystem, type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { type HolderProcess, mayBeAlive, thisProcess } from './process-identity.ts';
import { StoreError, storeError } from './store-error.ts';

interface Holder extends HolderProcess {
  /** Names this lock, not the process. */
  readonly id: string;
}

const NAME = 'lock';
const TRIES = 1000;

/** Options of `lockRun`. */
export interface LockOptions extends FileSystemOption {
  /** What this process does, for the error of another. Default `training`. */
  readonly activity?: 'training' | 'evaluating';
}

/**
 * Takes a run directory for this process. The lock of a process that is gone is taken over.
 *
 * @returns gives the directory free again; idempotent
 * @throws StateError if another process works in it
 * @throws StoreError if the lock cannot be read or written
 */
export function lockRun(
  directory: string,
  { fileSystem = nodeFileSystem, activity = 'training' }: LockOptions = {},
): () => void {
  const path = join(directory, NAME);
  makeDirectories(fileSystem, directory);
  const own: Holder = { id: randomBytes(12).toString('hex'), ...thisProcess() };
  const mine = `${path}.${own.id}`;
  try {
    writeLock(fileSystem, mine, own);
    for (let tries = 0; tries < TRIES; tries++) {
      if (!take(fileSystem, directory, mine, own, activity)) continue;
      sweep(fileSystem, directory);
      return () => {
        if (readLock(fileSystem, path)?.id === own.id) removeQuietly(fileSystem, path);
      };
    }
    throw new StateError(`Others keep taking the lock ${path}. Try again when they have ended.`);
  } catch (error) {
    throw error instanceof StateError ? error : storeError(path, error);
  } finally {
    removeQuietly(fileSystem, mine);
  }
}

/** One attempt; false if something changed meanwhile. */
function take(
  fileSystem: FileSystem,
  directory: string,
  mine: string,
  own: Holder,
  activity: string,
): boolean {
  const path = join(directory, NAME);
  const chain: { readonly path: string; readonly holder: Holder }[] = [];
  for (let at = path; ; ) {
    const holder = readLock(fileSystem, at);
    if (holder === undefined) break;
    refuseIfHeld(directory, path, holder, activity);
    chain.push({ path: at, holder });
    at = `${path}.after-${holder.id}`;
  }
  const last = chain.at(-1);
  const claim = last === undefined ? path : `${path}.after-${last.holder.id}`;
  if (!linkLock(fileSystem, mine, claim, own)) return false;
  if (last === undefined) return true;
  const isUnchanged = chain.every((one) => readLock(fileSystem, one.path)?.id === one.holder.id);
  if (!isUnchanged) {
    removeQuietly(fileSystem, claim);
    return false;
  }
  // Only the holder of the last claim gets here, so nobody else replaces the lock meanwhile.
  fileSystem.rename(mine, path);
  return true;
}

function refuseIfHeld(directory: string, path: string, holder: Holder, activity: string): void {
  if (!mayBeAlive(holder)) return;
  const where =
    holder.host === '' || holder.host === thisProcess().host ? '' : ` on ${holder.host}`;
  throw new StateError(
    `Process ${holder.pid}${where} is ${activity} in ${directory}. ` +
      `Wait for it, choose another --out, or remove ${path} if that process is another program.`,
  );
}

function writeLock(fileSystem: FileSystem, path: string, holder: Holder): void {
  const file = fileSystem.open(path, 'w');
  try {
    writeAll(fileSystem, file, Buffer.from(`${JSON.stringify(holder)}\n`));
    // An empty lock after a power loss could not be told from a foreign one.
    fileSystem.sync(file);
  } finally {
    fileSystem.close(file);
  }
}

/** False if the name is taken. */
function linkLock(fileSystem: FileSystem, mine: string, path: string, own: Holder): boolean {
  try {
    fileSystem.link(mine, path);
    return readLock(fileSystem, path)?.id === own.id;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Undefined if there is none.
 *
 * @throws StoreError if it is not readable: nobody can say whether its process lives
 */
function readLock(fileSystem: FileSystem, path: string): Holder | undefined {
  let text: string;
  try {
    text = fileSystem.readFile(path).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw storeError(path, error);
  }
  const holder = parseLock(text);
  if (holder !== undefined) return holder;
  throw new StoreError({
    path,
    problem: 'it does not say which process holds it',
    remedy: 'Remove it if no process trains in this directory.',
  });
}

/** Versions of format 1 wrote the process id alone. */
function parseLock(text: string): Holder | undefined {
  if (/^[1-9]\d{0,9}\s*$/.test(text)) {
    const pid = Number(text);
    return { id: `pid-${pid}`, pid, startedAt: '', boot: '', host: '' };
  }
  try {
    const { id, pid, startedAt, boot, host } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || !/^[0-9a-f]{24}$/.test(id)) return undefined;
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid < 1) return undefined;
    if (typeof startedAt !== 'string' || typeof boot !== 'string' || typeof host !== 'string') {
      return undefined;
    }
    return { id, pid, startedAt, boot, host };
  } catch {
    return undefined;
  }
}

/** Removes what takers that died have left. */
function sweep(fileSystem: FileSystem, directory: string): void {
  for (const name of fileSystem.readDirectory(directory)) {
    if (/^lock\.after-(?:pid-\d+|[0-9a-f]{24})$/.test(name)) {
      removeQuietly(fileSystem, join(directory, name));
    }
  }
}
