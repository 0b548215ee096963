/** One process per run directory: two would write over each other's metrics and checkpoints. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StateError } from '@saccade/core';

/** Whether a process lives; one of another user counts as alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Takes a run directory for this process; the lock of a process that is gone is taken over.
 *
 * @returns gives the directory free again
 * @throws StateError if another process trains in it
 */
export function lockRun(directory: string): () => void {
  const path = join(directory, 'lock');
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = Number(readFileSync(path, 'utf8'));
    if (holder > 0 && holder !== process.pid && isAlive(holder)) {
      throw new StateError(
        `Process ${holder} is training in ${directory}. ` +
          `Wait for it, choose another --out, or remove ${path} if that process is another program.`,
      );
    }
    rmSync(path, { force: true });
  }
}
