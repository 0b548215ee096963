/** vLLM, SGLang or `saccade serve policy` as the engine of a run. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '@saccade/core';
import { count, flag, optionalText, quantity, text } from '@saccade/core/settings';
import { z } from 'zod';
import { defineEngine } from '../remote/engine.ts';
import { isGone } from '../remote/engine-error.ts';
import { EnginePool, type PublishTo } from '../remote/engine-pool.ts';
import { LastingEngine } from '../remote/lasting-engine.ts';
import { resumeEngine, weightPublisher } from '../remote/publish-weights.ts';
import {
  openRemotePolicy,
  type RemotePolicy,
  type RemotePolicyOptions,
} from '../remote/remote-policy.ts';
import { changeTogether } from '../remote/weight-changes.ts';
import type { TrainedPolicy } from '../trained-policy.ts';

/** Losses after which opening is an error: a test of ours may be what ends the engine each time. */
const MOST_LOSSES = 20;

/**
 * Opens an engine and tests it; from the beginning if it is lost meanwhile. One that never answered is an
 * error at once: its address may be wrong.
 */
async function openWhileThere(
  returnSeconds: number,
  options: (send: typeof fetch) => RemotePolicyOptions,
): Promise<RemotePolicy> {
  const until = Date.now() + 1000 * returnSeconds;
  let wasThere = false;
  const send: typeof fetch = async (...request) => {
    const answer = await fetch(...request);
    wasThere = true;
    return answer;
  };
  for (let losses = 0; ; losses++) {
    try {
      return await openRemotePolicy(options(send));
    } catch (error) {
      const isLost = isGone(error) && wasThere && losses < MOST_LOSSES;
      if (!isLost || Date.now() > until) throw error;
      await sleep(500);
    }
  }
}

/** Log-probs before and after the temperature are the same, or nothing is learned from them. */
const isPlain = (temperature: number): boolean => temperature === 1 || temperature === 0;

export const http = defineEngine({
  name: 'http',
  description: 'vLLM, SGLang or `saccade serve policy`, one or several; which it is, is found out.',
  settings: z.strictObject({
    baseUrl: text({
      default: 'http://127.0.0.1:8000',
      unit: 'URL',
      about: 'Address of the server that samples rollouts; of several, with commas between them.',
    }),
    model: optionalText({
      unit: 'name',
      about: 'The model as the server calls it; unset: the first one it serves.',
    }),
    keyVariable: optionalText({
      unit: 'name',
      about: 'Environment variable with the server’s API key; unset: no key.',
    }),
    publish: flag({
      default: true,
      about: 'Whether the server gets new weights whenever they changed, before it samples.',
    }),
    directory: optionalText({
      unit: 'directory',
      about: 'Where weights are written for the server; unset: engine-weights/ of the run.',
    }),
    engineDirectory: optionalText({
      unit: 'directory',
      about: 'The same directory as the server sees it; unset: the same path.',
    }),
    timeoutSeconds: quantity({
      min: 0.1,
      max: 290,
      default: 240,
      unit: 'seconds',
      about: 'Time limit of one answer.',
    }),
    retries: count({
      min: 0,
      max: 100,
      default: 5,
      unit: 'retries',
      about: 'Retries of requests that the server did not accept, or failed to handle.',
    }),
    returnSeconds: quantity({
      min: 1,
      max: 604_800,
      default: 600,
      unit: 'seconds',
      about:
        'Time in which a server that is gone must be back; it then gets the weights again, and the run ' +
        'goes on where it was.',
    }),
  }),
  async open(settings, { policy, directory, temperatures, truncates, secret, onEvent }) {
    const { model, keyVariable, timeoutSeconds, retries, returnSeconds } = settings;
    const urls = addressesOf(settings.baseUrl);
    const apiKey = keyVariable && secret('engine.keyVariable', keyVariable);
    // A run that was killed while it published left engines paused.
    if (settings.publish) {
      const key = apiKey ? { apiKey } : {};
      await Promise.all(urls.map((baseUrl) => resumeEngine({ baseUrl, retries, ...key })));
    }
    const engines: RemotePolicy[] = [];
    for (const baseUrl of urls) {
      // They share the processor of the first: it knows the bytes of all images.
      const processor = engines[0]?.processor ?? policy.processor;
      const engine = await openWhileThere(returnSeconds, (send) => ({
        ...{ baseUrl, processor, timeoutSeconds, retries, fetch: send },
        needs: { temperedLogprobs: !temperatures.every(isPlain), truncatedLogprobs: truncates },
        ...(model !== undefined && { model }),
        ...(apiKey && { apiKey }),
      }));
      engines.push(engine);
    }
    const lasting = { returnSeconds, ...(onEvent && { onEvent }) };
    if (!settings.publish) {
      const sampler = new EnginePool(engines.map((engine) => new LastingEngine(engine, lasting)));
      return { sampler, sync: async () => {}, dispose: () => sampler.close() };
    }
    const { publish, again } = publishing(policy, engines, settings, directory);
    const sampler = new EnginePool(
      engines.map(
        (engine) => new LastingEngine(engine, { ...lasting, restore: () => again(engine) }),
      ),
    );
    // The weights that the engines serve when the run begins are unknown.
    let published: number | undefined;
    return {
      sampler,
      async sync() {
        const { version } = policy;
        if (published === version) return;
        await sampler.update(version, publish);
        published = version;
      },
      dispose: () => sampler.close(),
    };
  },
});

/** How the engines of a run get its weights, and one of them gets them again. */
interface Publishing {
  readonly publish: PublishTo;
  readonly again: (engine: RemotePolicy) => Promise<number | undefined>;
}

function publishing(
  policy: TrainedPolicy,
  engines: readonly RemotePolicy[],
  settings: {
    readonly directory?: string | undefined;
    readonly engineDirectory?: string | undefined;
  },
  run: string,
): Publishing {
  const { directory, engineDirectory } = settings;
  if (policy.publish === undefined) {
    const publisher = weightPublisher(engines, {
      directory: directory ?? join(run, 'engine-weights'),
      ...(engineDirectory !== undefined && { engineDirectory }),
      remove: (old) => rm(old, { recursive: true, force: true }),
    });
    return {
      publish: async (some) => {
        await publisher.publish(policy, some);
      },
      again: (engine) => publisher.again(engine),
    };
  }
  const send = policy.publish.bind(policy);
  const seen = engineDirectory ?? directory;
  const give = async (all: readonly RemotePolicy[]): Promise<number> => {
    const { version } = policy;
    for (const [name, kind] of Object.entries(DISK)) {
      const some = all.filter(({ dialect }) => dialect.name === name);
      if (some.length === 0) continue;
      const urls = some.map(({ http }) => http.url);
      await send({ kind, urls, ...(seen !== undefined && { directory: seen }) });
      for (const engine of some) engine.setVersion(version);
    }
    return version;
  };
  return {
    publish: async (all) => {
      await changeTogether(
        all.map(({ changes }) => changes),
        () => give(all),
      );
    },
    again: (engine) => engine.changes.run(() => give([engine])),
  };
}

/** How a learner elsewhere gives its weights to an engine, by the engine's protocol. */
const DISK = { vllm: 'disk', sglang: 'sglang-disk' } as const;

/** @throws ConfigError if there is none, or one twice */
function addressesOf(text: string): readonly string[] {
  const urls = text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
  const twice = urls.find((url, i) => urls.indexOf(url) !== i);
  if (urls.length > 0 && twice === undefined) return urls;
  const problem = twice === undefined ? 'names no server' : `names ${twice} twice`;
  throw new ConfigError(
    'engine.baseUrl',
    `engine.baseUrl is "${text}", which ${problem}. Give addresses with commas between them.`,
  );
}
