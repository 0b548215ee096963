/** The configuration a run directory was started with. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import type { RunConfig } from './config.ts';
import { validateConfig } from './settings.ts';

/** @throws DataError if the directory has none */
export function readRunConfig(directory: string): RunConfig {
  const path = join(directory, 'config.json');
  if (!existsSync(path)) {
    throw new DataError(`${directory} holds no run: config.json is missing. Check the path.`);
  }
  return validateConfig(JSON.parse(readFileSync(path, 'utf8')));
}
