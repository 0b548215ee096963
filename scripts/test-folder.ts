/**
 * A folder for what tests write, in place of the machine's own for temporary files: it goes when they
 * end, with whatever a test or a process that was killed has left.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

// Short: the path of a socket has at most 107 characters.
const PREFIX = 'st-';

let made: string | undefined;

/** Runs before the first test of each project; the first project's folder is that of all. */
export function setup(): void {
  if (basename(tmpdir()).startsWith(PREFIX)) return;
  made = mkdtempSync(join(tmpdir(), PREFIX));
  // As /tmp itself: tests of the sandbox run as other users.
  chmodSync(made, 0o1777);
  process.env.TMPDIR = made;
}

/** Runs after the last test of all projects. */
export function teardown(): void {
  if (made !== undefined) rmSync(made, { recursive: true, force: true, maxRetries: 3 });
}
