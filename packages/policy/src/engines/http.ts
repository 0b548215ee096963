/** vLLM, SGLang or `saccade serve policy` as the engine of a run. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { count, flag, optionalText, quantity, text } from '@saccade/core/settings';
import { z } from 'zod';
import { defineEngine } from '../remote/engine.ts';
import { weightPublisher } from '../remote/publish-weights.ts';
import { openRemotePolicy } from '../remote/remote-policy.ts';

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
  }),
  async open(settings, { policy, directory, temperatures, truncates, secret }) {
    const { baseUrl, model, keyVariable, timeoutSeconds, retries } = settings;
    const sampler = await openRemotePolicy({
      baseUrl,
      processor: policy.processor,
      timeoutSeconds,
      retries,
      needs: { temperedLogprobs: !temperatures.every(isPlain), truncatedLogprobs: truncates },
      ...(model !== undefined && { model }),
      ...(keyVariable !== undefined && { apiKey: secret('engine.keyVariable', keyVariable) }),
    });
    if (!settings.publish) return { sampler, sync: async () => {} };
    const { engineDirectory } = settings;
    const publisher = weightPublisher(sampler, {
      directory: settings.directory ?? join(directory, 'engine-weights'),
      ...(engineDirectory !== undefined && { engineDirectory }),
      remove: (old) => rm(old, { recursive: true, force: true }),
    });
    // The weights that the engine serves when the run begins are unknown.
    let published: number | undefined;
    return {
      sampler,
      async sync() {
        const { version } = policy;
        if (published === version) return;
        if (policy.publish === undefined) await publisher.publish(policy);
        else {
          const kind = sampler.dialect.name === 'vllm' ? 'disk' : 'sglang-disk';
          const seen = engineDirectory ?? settings.directory;
          const where = seen === undefined ? {} : { directory: seen };
          await policy.publish({ kind, urls: [sampler.http.url], ...where });
          sampler.setVersion(version);
        }
        published = version;
      },
    };
  },
});
