/** A run or a checkpoint of ours as a player of tasks: a teacher, or a weak model. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { EventSink } from '@saccade/core';
import { createToolEnv, type Protocol } from '@saccade/gym';
import type { Player } from '@saccade/synthesis';
import {
  inputOfRun,
  openBackend,
  openPolicyIn,
  protocolOf,
  readRunConfig,
  resolveRun,
} from '@saccade/train';
import { policyOf } from './serve-policy.ts';

/** What a policy needs to play. */
export interface PolicyPlayerOptions {
  readonly backend: string;
  /** Used where the policy is of no run. */
  readonly protocol: Protocol;
  readonly sandbox: Parameters<typeof createToolEnv>[0]['sandbox'];
  readonly onEvent: EventSink;
}

/**
 * Opens a policy as a player, in the protocol of its run.
 *
 * @throws DataError if there is no policy
 */
export async function openPolicyPlayer(
  path: string,
  { backend, protocol, sandbox, onEvent }: PolicyPlayerOptions,
): Promise<Player & { dispose(): Promise<void> }> {
  const directory = policyOf(resolve(path), onEvent);
  const run = runOf(resolve(path));
  const own =
    run === undefined
      ? protocol
      : protocolOf(resolveRun(inputOfRun(await readRunConfig(run, onEvent))));
  const device = await openBackend(backend);
  const policy = await openPolicyIn(directory, device, onEvent);
  return {
    ...{ sampler: policy, protocol: own },
    envOf: (chosen) => () => createToolEnv({ protocol: chosen, sandbox }),
    async dispose() {
      policy.dispose();
      device.dispose();
    },
  };
}

/** The run that a path is, or lies in. */
function runOf(path: string): string | undefined {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'metrics.jsonl')) && existsSync(join(at, 'config.json'))) return at;
  }
  return undefined;
}
