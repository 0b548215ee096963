/** Weights of other runs: what a run begins with, and what it is compared with. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, DataError, type EventSink } from '@saccade/core';
import { hasAdapter, hasWeights } from '@saccade/policy';
import { checkpointDirectory, checkpointsOf, findLatestCheckpoint } from '@saccade/run-store';
import type { ResolvedRun } from './run-config.ts';
import { readRunConfig } from './stored-run-config.ts';

/** Checks the directories that a run begins with, before any work. @throws ConfigError */
export function checkStart({ config }: ResolvedRun): void {
  const paths = { startFrom: config.startFrom, 'rl.reference': config.rl.reference };
  for (const [field, path] of Object.entries(paths)) {
    if (path === undefined || existsSync(resolve(path))) continue;
    throw new ConfigError(
      field,
      `${field}: there is no ${resolve(path)}. Give the directory of a run or of a policy.`,
    );
  }
}

/**
 * The directory of weights that `startFrom` means.
 *
 * @param startFrom a run directory, whose cold start is taken, or a policy's directory
 * @throws DataError if there is neither
 */
export async function startingWeights(startFrom: string): Promise<string> {
  const directory = resolve(startFrom);
  if (hasWeights(directory) || hasAdapter(directory)) return directory;
  const { sft, startFrom: origin } = (await readRunConfig(directory)).config;
  const updates = origin === undefined ? sft.updates : 0;
  const policy = join(checkpointDirectory(checkpointsOf(directory), updates), 'policy');
  if (existsSync(policy)) return policy;
  throw new DataError(
    `The run in ${directory} has not ended its cold start: ${policy} is missing. ` +
      'Continue with it first: saccade train --resume.',
  );
}

/**
 * The directory of weights that `rl.reference` means.
 *
 * @param reference a run directory, whose newest checkpoint is taken, or a policy's directory
 * @throws DataError if there is neither
 */
export function referenceWeights(reference: string, onEvent: EventSink): string {
  const directory = resolve(reference);
  if (hasWeights(directory) || hasAdapter(directory)) return directory;
  const newest = findLatestCheckpoint(checkpointsOf(directory), onEvent);
  if (newest !== undefined) return join(newest.directory, 'policy');
  throw new DataError(
    `rl.reference: ${directory} is neither a policy nor a run with a checkpoint. Give the directory ` +
      'of either, or leave rl.reference out for the policy after the cold start.',
  );
}
