/** vLLM, SGLang or `saccade serve policy` as the engine of a run. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { count, flag, optionalText, quantity, text } from '@saccade/core/settings';
import { z } from 'zod';
import { defineEngine } from '../remote/engine.ts';
import { isGone } from '../remote/engine-error.ts';
import { LastingSampler } from '../remote/lasting-sampler.ts';
import { resumeEngine, weightPublisher } from '../remote/publish-weights.ts';
import {
  openRemotePolicy,
  type RemotePolicy,
  type RemotePolicyOptions,
} from '../remote/remote-policy.ts';

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
  description: 'vLLM, SGLang or `saccade serve policy`; which one it is, is found out.',
  settings: z.strictObject({
    baseUrl: text({
      default: 'http://127.0.0.1:8000',
      unit: 'URL',
      about: 'Address of the server that samples rollouts.',
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
      about: 'Retries of requests that the server did not accept.',
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
    const { baseUrl, model, keyVariable, timeoutSeconds, retries, returnSeconds } = settings;
    // A run that was killed while it published left the engine paused.
    if (settings.publish) {
      const apiKey = keyVariable && secret('engine.keyVariable', keyVariable);
      await resumeEngine({ baseUrl, retries, ...(apiKey && { apiKey }) });
    }
    const engine = await openWhileThere(returnSeconds, (send) => ({
      baseUrl,
      processor: policy.processor,
      timeoutSeconds,
      retries,
      fetch: send,
      needs: { temperedLogprobs: !temperatures.every(isPlain), truncatedLogprobs: truncates },
      ...(model !== undefined && { model }),
      ...(keyVariable !== undefined && { apiKey: secret('engine.keyVariable', keyVariable) }),
    }));
    const lasting = { returnSeconds, ...(onEvent && { onEvent }) };
    if (!settings.publish) {
      return { sampler: new LastingSampler(engine, lasting), sync: async () => {} };
    }
    const { engineDirectory } = settings;
    const publisher = weightPublisher(engine, {
      directory: settings.directory ?? join(directory, 'engine-weights'),
      ...(engineDirectory !== undefined && { engineDirectory }),
      remove: (old) => rm(old, { recursive: true, force: true }),
    });
    const publish = async (): Promise<void> => {
      if (policy.publish === undefined) {
        await publisher.publish(policy);
        return;
      }
      const kind = engine.dialect.name === 'vllm' ? 'disk' : 'sglang-disk';
      const seen = engineDirectory ?? settings.directory;
      const where = seen === undefined ? {} : { directory: seen };
      await policy.publish({ kind, urls: [engine.http.url], ...where });
    };
    const sampler = new LastingSampler(engine, {
      ...lasting,
      restore: policy.publish === undefined ? () => publisher.again() : publish,
    });
    // The weights that the engine serves when the run begins are unknown.
    let published: number | undefined;
    return {
      sampler,
      async sync() {
        const { version } = policy;
        if (published === version) return;
        await sampler.update(version, publish);
        published = version;
      },
    };
  },
});
