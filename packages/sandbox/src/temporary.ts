/** Temporary directories that bear their owner's number, so that the next one cleans up after it. */
import { readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'saccade-';

export async function makeTemporary(kind: string): Promise<string> {
  return await mkdtemp(join(tmpdir(), `${prefix}${kind}-${namespace()}-${process.pid}-`));
}

/** Removes what processes left behind that were killed; their numbers mean nothing elsewhere. */
export async function sweepTemporaries(): Promise<void> {
  const mine = new RegExp(`^${prefix}[a-z]+-${namespace()}-(\\d+)-`);
  const names = await readdir(tmpdir()).catch(() => []);
  const stale = names.filter((name) => {
    const owner = mine.exec(name)?.[1];
    return owner !== undefined && isGone(Number(owner));
  });
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
