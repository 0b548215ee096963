/** An engine that is lost, cut off, or given other weights, while a run samples there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import type { SampleRequest, SampleResult } from '../policy.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import { EnginePool } from './engine-pool.ts';
import { LastingEngine, type LastingOptions } from './lasting-engine.ts';
import { weightPublisher } from './publish-weights.ts';
import { openRemotePolicy, type RemotePolicy } from './remote-policy.ts';
import { type Served, served } from './served.fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'saccade-lasting-'));
let device: Device;
let serving: LocalPolicy;
let learning: LocalPolicy;
let service: Served;
let engine: RemotePolicy;
let wanted: SampleResult;
const said: string[] = [];

const request: SampleRequest = {
  ...tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit?' }]),
  maxTokens: 12,
  ignoreEndOfTurn: true,
  stop: [],
  temperature: 1,
  seed: [3, 5],
  conversation: 'mine',
};

beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 1 }));
  serving = tinyPolicy(device, 1);
  learning = tinyPolicy(device, 2);
  await tinyPolicy(device, 1).save(join(directory, 'first'));
  service = await served({ policy: serving, speaks: 'vllm' });
  engine = await openRemotePolicy({ baseUrl: service.url, processor: tinyProcessor, retries: 0 });
  wanted = { ...(await learning.sample(request)), policyVersion: 7 };
});
afterAll(async () => {
  await service.close();
  serving.dispose();
  learning.dispose();
  device.dispose();
  rmSync(directory, { recursive: true });
});

/** A sampler of this engine alone. */
const poolOf = (options: LastingOptions) => new EnginePool([new LastingEngine(engine, options)]);

/** A sampler whose engine was given the weights that learned, as version 7. */
async function lasting(returnSeconds = 5): Promise<EnginePool> {
  const publisher = weightPublisher(engine, { directory: join(directory, 'published') });
  const sampler = poolOf({
    returnSeconds,
    lookSeconds: 0.01,
    restore: () => publisher.again(engine),
    onEvent: (event) => said.push(event.kind === 'warning' ? event.message : event.kind),
  });
  await sampler.update(7, async () => {
    await publisher.publish({ version: 7, save: learning.save.bind(learning) });
  });
  return sampler;
}

/** The engine has its first weights, as after a restart. */
async function startOver(): Promise<void> {
  const call = {
    method: 'reload_weights',
    kwargs: { weights_path: join(directory, 'first') },
  };
  await engine.http.post('/collective_rpc', JSON.stringify(call));
  await engine.http.post('/update_weight_version', JSON.stringify({ new_version: '0' }));
}

it('an engine that was started anew is given the weights again, and gives the same tokens', async () => {
  const sampler = await lasting();
  expect(await sampler.sample(request)).toEqual(wanted);
  await startOver();
  const requests = Array.from({ length: 4 }, () => sampler.sample(request));
  for (const result of await Promise.all(requests)) expect(result).toEqual(wanted);
  expect(said.at(-1)).toMatch(/version 0, and was given 7.*is given the weights again/);
});

it('a connection that breaks is asked again, without new weights', async () => {
  const sampler = await lasting();
  const reloads = service.count('/collective_rpc');
  let cuts = 3;
  service.fault = (path, _, response) => {
    if (path !== '/v1/completions' || cuts-- <= 0) return false;
    response.destroy();
    return true;
  };
  expect(await sampler.sample(request)).toEqual(wanted);
  service.fault = undefined;
  expect(service.count('/collective_rpc')).toBe(reloads);
});

it('an engine that turns requests away without saying for how long is asked again', async () => {
  const sampler = await lasting();
  let refusals = 2;
  service.fault = (path, _, response) => {
    if (path !== '/v1/completions' || refusals-- <= 0) return false;
    response.writeHead(refusals === 0 ? 429 : 503).end();
    return true;
  };
  expect(await sampler.sample(request)).toEqual(wanted);
  refusals = Infinity;
  await expect(sampler.sample(request)).rejects.toMatchObject({ fault: 'overloaded' });
  service.fault = undefined;
});

it('a publication goes on after a failure at any step of it, and nothing is sampled between', async () => {
  const lasts = await openRemotePolicy({ baseUrl: service.url, processor: tinyProcessor });
  const publisher = weightPublisher(lasts, { directory: join(directory, 'published') });
  for (const step of [
    '/pause',
    '/collective_rpc',
    '/update_weight_version',
    '/reset_prefix_cache',
  ]) {
    await startOver();
    let failures = 1;
    let resumed = 0;
    service.fault = (path, _, response) => {
      if (path === '/resume') resumed++;
      if (path !== step || failures-- <= 0) return false;
      response.writeHead(500).end('a passing fault');
      return true;
    };
    await publisher.publish({ version: 7, save: learning.save.bind(learning) });
    expect(await lasts.sample(request)).toEqual(wanted);
    expect(resumed).toBe(1);
  }
  service.fault = undefined;
});

it('an engine that does not come back is an error that says for how long', async () => {
  const sampler = await lasting(0.2);
  service.fault = (_, __, response) => {
    response.destroy();
    return true;
  };
  await expect(sampler.sample(request)).rejects.toThrow(
    /was away for 0\.2 seconds\. Start it again/,
  );
  const ended = new AbortController();
  const late = poolOf({ returnSeconds: 60, lookSeconds: 0.01 });
  const waiting = late.sample({ ...request, signal: ended.signal });
  setTimeout(() => ended.abort(new Error('The run ended.')), 30);
  await expect(waiting).rejects.toThrow('The run ended.');
  service.fault = undefined;
});

it('an engine that two runs publish to is an error, not a mixture', async () => {
  const publisher = weightPublisher(engine, { directory: join(directory, 'published') });
  const restore = async (): Promise<number> => {
    await startOver();
    return 9;
  };
  const sampler = poolOf({ returnSeconds: 5, restore });
  await sampler.update(9, async () => {
    await publisher.publish({ version: 9, save: learning.save.bind(learning) });
  });
  await startOver();
  await expect(sampler.sample(request)).rejects.toThrow(/Does another run publish to it\?/);
});

it('a connection that breaks while an engine is tested says nothing of what it can', async () => {
  service.fault = (path, _, response) => {
    if (path !== '/inference/v1/generate') return false;
    response.destroy();
    return true;
  };
  const opened = openRemotePolicy({ baseUrl: service.url, processor: tinyProcessor, retries: 0 });
  await expect(opened).rejects.toMatchObject({ fault: 'broken' });
  service.fault = undefined;
});

it('a server that fails while an engine is tested is not one that lacks something', async () => {
  for (const failing of ['/version', '/v1/models', '/openapi.json']) {
    service.fault = (at, _, response) => {
      if (at !== failing) return false;
      response.writeHead(failing === '/version' ? 503 : 500).end('starting');
      return true;
    };
    const opened = openRemotePolicy({
      ...{ baseUrl: service.url, processor: tinyProcessor, retries: 0 },
    });
    await expect(opened).rejects.toThrow(new RegExp(`${failing} answered 50[03]: starting\\.`));
  }
  service.fault = undefined;
});
