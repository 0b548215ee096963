/** The folder of a server without a file system of its own: its sessions are other users of the host. */
import { chmod, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UnsupportedError } from '@saccade/core';
import { makeTemporary } from '../temporary.ts';

/** Permission of all users to pass through a folder. */
const PASSABLE = 0o001;

/**
 * Makes the folder in which the sessions' own folders lie.
 *
 * @param hasUsers  whether sessions run as other users, which have to get there
 * @throws UnsupportedError naming the folder on the way that is closed to them
 */
export async function makeOwnScratch(hasUsers: boolean): Promise<string> {
  const scratch = await makeTemporary('sandbox');
  await chmod(scratch, 0o711);
  const closed = hasUsers ? await closedFolder(dirname(scratch)) : undefined;
  if (closed === undefined) return scratch;
  await rm(scratch, { recursive: true, force: true });
  throw new UnsupportedError(
    `Sessions run as other users, and ${closed} is closed to them, so they cannot reach their ` +
      `folders in ${dirname(scratch)}. Set TMPDIR to a folder that all users can pass through, ` +
      `such as /tmp, or run chmod o+x ${closed}.`,
  );
}

/** The highest folder on the way that other users cannot pass through. */
async function closedFolder(folder: string): Promise<string | undefined> {
  const parent = dirname(folder);
  const above = parent === folder ? undefined : await closedFolder(parent);
  if (above !== undefined) return above;
  return ((await stat(folder)).mode & PASSABLE) === 0 ? folder : undefined;
}
