/** The configuration a run directory was started with. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, messageOf, SaccadeError } from '@saccade/core';
import { readConfig, StoreError } from '@saccade/run-store';
import type { RunConfig } from './config.ts';
import { validateConfig } from './settings.ts';

/**
 * @throws DataError if the directory has none, or it is damaged
 * @throws ConfigError if this version does not know a field or a value of it
 */
export function readRunConfig(directory: string): RunConfig {
  if (!existsSync(join(directory, 'config.json'))) {
    throw new DataError(`${directory} holds no run: config.json is missing. Check the path.`);
  }
  const { config } = readConfig(directory);
  try {
    return validateConfig(config);
  } catch (cause) {
    if (cause instanceof SaccadeError) throw cause;
    throw new StoreError(
      {
        path: join(directory, 'config.json'),
        problem: `it is no configuration of a run (${messageOf(cause)})`,
        remedy: 'Restore it from a copy.',
      },
      { cause },
    );
  }
}
