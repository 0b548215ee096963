/** Weights a run begins with: another run's cold start, or a policy's directory. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DataError } from '@saccade/core';
import { checkpointDirectory, checkpointsOf } from '@saccade/run-store';
import { readRunConfig } from './stored-run-config.ts';

/**
 * The directory of weights that `startFrom` means.
 *
 * @param startFrom a run directory, whose cold start is taken, or a policy's directory
 * @throws DataError if there is neither
 */
export async function startingWeights(startFrom: string): Promise<string> {
  const directory = resolve(startFrom);
  if (existsSync(join(directory, 'model.safetensors'))) return directory;
  const { sft, startFrom: origin } = (await readRunConfig(directory)).config;
  const updates = origin === undefined ? sft.updates : 0;
  const policy = join(checkpointDirectory(checkpointsOf(directory), updates), 'policy');
  if (existsSync(policy)) return policy;
  throw new DataError(
    `The run in ${directory} has not ended its cold start: ${policy} is missing. ` +
      'Continue with it first: saccade train --resume.',
  );
}
