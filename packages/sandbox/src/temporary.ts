/** Temporary directories that bear their owner's number, so that the next one cleans up after it. */
import { execFile } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { identifyProcess, isRunning } from '@saccade/core/processes';
import { pythonSources } from './python-environment.ts';

const prefix = 'saccade-';

/** How the names of what this process makes begin. */
export function ownedPrefix(kind: string): string {
  return `${prefix}${kind}-${namespace()}-${process.pid}-${identifyProcess(process.pid).started ?? 0}-`;
}

/**
 * Whether the process that gave this name is gone; the numbers of other namespaces mean nothing. Numbers
 * come again, so the name has the time of the process's start too.
 */
export function isAbandoned(name: string): boolean {
  const found = new RegExp(`^${prefix}[a-z]+-${namespace()}-(\\d+)-(?:(\\d+)-)?`).exec(name);
  if (found === null) return false;
  const [, pid, started] = found;
  const isKnown = started !== undefined && started !== '0';
  return !isRunning({ pid: Number(pid), started: isKnown ? started : null });
}

export async function makeTemporary(kind: string): Promise<string> {
  return await mkdtemp(join(tmpdir(), ownedPrefix(kind)));
}

/**
 * Removes from the folder for temporary files what processes left behind that were killed.
 *
 * @param python  for `removeTree`
 */
export async function sweepTemporaries(python?: string): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  const stale = names.filter((name) => isAbandoned(name));
  await Promise.all(stale.map((name) => removeTree(join(tmpdir(), name), python)));
}

const removalSeconds = 60;

/**
 * Removes a directory, if it can be removed.
 *
 * @param python  interpreter that does it where code has written (python/removal.py): trees that are deep,
 *   closed or mounted are beyond Node's own `rm`
 */
export async function removeTree(path: string, python?: string): Promise<void> {
  if (python !== undefined && existsSync(path)) {
    const script = join(pythonSources, 'removal.py');
    const args = ['-I', '-S', script, String(removalSeconds), path];
    await promisify(execFile)(python, args, { env: {} }).catch(() => {}); // what is left, rm may do
  }
  if (!existsSync(path)) return;
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
