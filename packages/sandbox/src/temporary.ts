/** Temporary directories that bear their owner's number, so that the next one cleans up after it. */
import { readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'saccade-';

/** How the names of what this process makes begin. */
export function ownedPrefix(kind: string): string {
  return `${prefix}${kind}-${namespace()}-${process.pid}-`;
}

/** Whether the process that gave this name is gone; the numbers of other namespaces mean nothing. */
export function isAbandoned(name: string): boolean {
  const owner = new RegExp(`^${prefix}[a-z]+-${namespace()}-(\\d+)-`).exec(name)?.[1];
  return owner !== undefined && isGone(Number(owner));
}

export async function makeTemporary(kind: string): Promise<string> {
  return await mkdtemp(join(tmpdir(), ownedPrefix(kind)));
}

/** Removes what processes left behind that were killed. */
export async function sweepTemporaries(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  const stale = names.filter((name) => isAbandoned(name));
  await Promise.all(stale.map((name) => removeTree(join(tmpdir(), name))));
}

export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

/** Containers may share a temporary directory, and number their processes each for itself. */
function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
