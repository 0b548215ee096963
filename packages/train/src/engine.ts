/** Where rollouts are sampled: by the policy itself, or by an engine that is given its weights. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import type { LocalPolicy, Sampler } from '@saccade/policy';
import { openRemotePolicy, type RemotePolicy, weightPublisher } from '@saccade/policy/remote';
import type { EngineConfig, RunConfig } from './config.ts';

export interface RolloutEngine {
  readonly sampler: Sampler;
  /** Gives the sampler the policy's weights, if they are others than it has. */
  sync(): Promise<void>;
}

export function hasEngine({ baseUrl }: Pick<EngineConfig, 'baseUrl'>): boolean {
  return baseUrl !== 'none';
}

/** The key of an engine. @throws ConfigError if the environment has no such variable */
export function engineKey(keyVariable: string): { readonly apiKey?: string } {
  if (keyVariable === 'none') return {};
  const apiKey = process.env[keyVariable];
  if (apiKey !== undefined) return { apiKey };
  throw new ConfigError(
    'engine.keyVariable',
    `engine.keyVariable: the environment has no ${keyVariable}. Set it to the API key.`,
  );
}

/**
 * Opens what a configuration samples with.
 *
 * @throws EngineError if the engine cannot be reached or lacks something that rollouts need
 * @throws ConfigError if weights are to be published and it cannot load any
 */
export async function openEngine(
  config: RunConfig,
  policy: LocalPolicy,
  directory: string,
): Promise<RolloutEngine> {
  const { engine, rl, evaluation } = config;
  if (!hasEngine(engine)) return { sampler: policy, sync: async () => {} };
  const sampler = await openRemotePolicy({
    baseUrl: engine.baseUrl,
    processor: policy.processor,
    timeoutSeconds: engine.timeoutSeconds,
    retries: engine.retries,
    needs: { temperedLogprobs: ![rl, evaluation].every(({ temperature }) => isPlain(temperature)) },
    ...(engine.model !== 'none' && { model: engine.model }),
    ...engineKey(engine.keyVariable),
  });
  if (!engine.publish) return { sampler, sync: async () => {} };
  return publishing(sampler, policy, engine, directory);
}

/** Where log-probs before and after the temperature are the same, or nothing is learned from them. */
const isPlain = (temperature: number): boolean => temperature === 1 || temperature === 0;

function publishing(
  sampler: RemotePolicy,
  policy: LocalPolicy,
  { directory: shared, engineDirectory }: EngineConfig,
  run: string,
): RolloutEngine {
  const publisher = weightPublisher(sampler, {
    directory: shared === 'none' ? join(run, 'engine-weights') : shared,
    ...(engineDirectory !== 'none' && { engineDirectory }),
    remove: (old) => rm(old, { recursive: true, force: true }),
  });
  // What it serves when the run begins is not known.
  let published: number | undefined;
  return {
    sampler,
    async sync() {
      if (published === policy.version) return;
      await publisher.publish(policy);
      published = policy.version;
    },
  };
}
