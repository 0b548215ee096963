/** The one file that a command writes: looked at before the work, which can take minutes. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '@saccade/core';

/**
 * The absolute path of `--out`.
 *
 * @throws ConfigError if its folder does not exist, or it is a folder itself
 */
export function outputFile(out: string): string {
  const path = resolve(out);
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new ConfigError('--out', `--out: there is no folder ${folder}. Make it first.`);
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new ConfigError('--out', `--out: ${path} is a folder. Give the path of a file.`);
  }
  return path;
}
