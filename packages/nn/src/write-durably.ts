/** Writes a file so that it is there whole or not at all, also after a crash. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes to `<path>.partial`, synced, then renamed into place. After an error or a crash `path` is
 * what it was before.
 */
export async function writeDurably(
  path: string,
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const temporary = `${path}.partial`;
  try {
    const file = await open(temporary, 'w');
    try {
      for await (const part of parts) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Makes a rename survive a power cut, where the system can. */
async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories, so the rename cannot be made more durable there.
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
