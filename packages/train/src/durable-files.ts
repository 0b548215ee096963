/** Files that survive a crash: written, flushed to the disk, then put in place by one rename. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Flushes a file or a directory to the disk. */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Replaces a file in one step: readers see the old content or the new, never half of it. */
export function writeDurably(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.tmp`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(temporary, content);
  flush(temporary);
  renameSync(temporary, path);
  flush(dirname(path));
}

/** Paths of all files below a directory, relative to it, sorted, with `/` between the parts. */
export function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
