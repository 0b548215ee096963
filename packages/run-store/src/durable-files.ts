/** Files that survive a crash: written beside, flushed to the disk, put in place by one rename. */
import { dirname, join } from 'node:path';
import type { FileSystem } from './file-system.ts';
import { storeError } from './store-error.ts';

/** Writes all bytes, in as many calls as the system needs. */
export function writeAll(fileSystem: FileSystem, file: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) {
    const written = fileSystem.write(file, bytes.subarray(at));
    if (written <= 0) {
      throw Object.assign(new Error('ENOSPC: nothing could be written'), { code: 'ENOSPC' });
    }
    at += written;
  }
}

/** Flushes a file or a directory to the disk. */
export function flush(fileSystem: FileSystem, path: string): void {
  const file = fileSystem.open(path, 'r');
  try {
    fileSystem.sync(file);
  } finally {
    fileSystem.close(file);
  }
}

/**
 * Makes a directory and those above it; each new one survives a power loss.
 *
 * @throws StoreError naming the directory that could not be made
 */
export function makeDirectories(fileSystem: FileSystem, path: string): void {
  try {
    const found = fileSystem.status(path);
    if (found?.isDirectory) return;
    if (found !== undefined) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
    const parent = dirname(path);
    if (parent !== path) makeDirectories(fileSystem, parent);
    try {
      fileSystem.makeDirectory(path);
    } catch (error) {
      // Somebody else may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    flush(fileSystem, parent);
  } catch (error) {
    throw storeError(path, error);
  }
}

/**
 * Replaces a file in one step: readers see the old content or the new, never a part of it.
 *
 * @throws StoreError if it cannot be written; the old content is untouched
 */
export function writeDurably(
  fileSystem: FileSystem,
  path: string,
  content: string | Uint8Array,
): void {
  const temporary = `${path}.tmp`;
  makeDirectories(fileSystem, dirname(path));
  try {
    writeAndFlush(fileSystem, temporary, content);
    fileSystem.rename(temporary, path);
    flush(fileSystem, dirname(path));
  } catch (error) {
    removeQuietly(fileSystem, temporary);
    throw storeError(path, error);
  }
}

/** Writes a file where it is to lie and flushes it: for files in a directory that is not in place. */
export function writeAndFlush(
  fileSystem: FileSystem,
  path: string,
  content: string | Uint8Array,
): void {
  const file = fileSystem.open(path, 'w');
  try {
    writeAll(fileSystem, file, typeof content === 'string' ? Buffer.from(content) : content);
    fileSystem.sync(file);
  } finally {
    fileSystem.close(file);
  }
}

/** Removes a file; one that is not there, or cannot be removed, is left. */
export function removeQuietly(fileSystem: FileSystem, path: string): void {
  try {
    fileSystem.removeFile(path);
  } catch {
    // The next writer overwrites any leftover file.
  }
}

/** Removes a directory with all that is in it; one that is not there is not an error. */
export function removeTree(fileSystem: FileSystem, path: string): void {
  const found = fileSystem.status(path);
  if (found === undefined) return;
  if (!found.isDirectory) {
    fileSystem.removeFile(path);
    return;
  }
  for (const name of fileSystem.readDirectory(path)) removeTree(fileSystem, join(path, name));
  fileSystem.removeDirectory(path);
}

/** Paths of all files below a directory, relative to it, sorted, with `/` between the parts. */
export function listFiles(fileSystem: FileSystem, directory: string): readonly string[] {
  return listTree(fileSystem, directory)
    .filter(({ isDirectory }) => !isDirectory)
    .map(({ path }) => path);
}

/** Files and directories below a directory, relative to it, parents after their children. */
export function listTree(
  fileSystem: FileSystem,
  directory: string,
): readonly { readonly path: string; readonly isDirectory: boolean }[] {
  return [...fileSystem.readDirectory(directory)].sort().flatMap((name) => {
    const isDirectory = fileSystem.status(join(directory, name))?.isDirectory ?? false;
    const below = isDirectory ? listTree(fileSystem, join(directory, name)) : [];
    return [
      ...below.map((one) => ({ ...one, path: `${name}/${one.path}` })),
      { path: name, isDirectory },
    ];
  });
}
