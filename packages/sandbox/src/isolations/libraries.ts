/** Files of the machine that a session has to see: system libraries, interpreter, our own files. */
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { UnsupportedError } from '@saccade/core';
import type { LaunchPlan } from '../isolation.ts';

/** Where the loader looks, which library an alternative means, fonts; and where Nix keeps all. */
const systemPaths = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/fonts', '/nix/store'];

/**
 * Paths besides `/usr` that a session reads, sorted so that folders come before what is in them.
 *
 * @throws UnsupportedError if the interpreter lies right in `/` or in a home directory
 */
export function readablePaths(plan: LaunchPlan): readonly string[] {
  const directories = [plan.sources, ...plan.interpreter.directories].filter(
    (directory) => directory !== '/usr' && !directory.startsWith('/usr/'),
  );
  const paths = [...systemPaths.filter((path) => existsSync(path)), ...directories.sort()];
  paths.forEach(refuseTooMuch);
  return paths;
}

export interface SystemFolder {
  readonly path: string;
  /** The target, where it is a symbolic link, as on systems whose files are all in `/usr`. */
  readonly link?: string;
}

/** The folders beside `/usr` that programs and the loader are found in. */
export function systemFolders(): readonly SystemFolder[] {
  const names = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
  return names
    .filter((path) => existsSync(path))
    .map((path) =>
      lstatSync(path).isSymbolicLink() ? { path, link: readlinkSync(path) } : { path },
    );
}

/** An interpreter installed right into `/` or the home directory would bring all of it along. */
function refuseTooMuch(directory: string): void {
  const home = resolve(homedir());
  if (directory === '/' || directory === home || home.startsWith(`${directory}/`)) {
    throw new UnsupportedError(
      `The interpreter needs ${directory}, which holds the home directory and must not be ` +
        'visible to submitted code. Use an interpreter in a folder of its own, e.g. ensurePython().',
    );
  }
}
