/** The unit `http` over two engines: one directory of weights, one call to a learner that publishes itself. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import type { EngineContext } from '../remote/engine.ts';
import { type Served, served } from '../remote/served.fixture.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import type { PublishTarget, TrainedPolicy } from '../trained-policy.ts';
import { http } from './http.ts';

const directory = mkdtempSync(join(tmpdir(), 'saccade-http-'));
const serving: LocalPolicy[] = [];
const services: Served[] = [];
let device: Device;
let learning: LocalPolicy;
let baseUrl: string;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 1 }));
  learning = tinyPolicy(device, 2);
  for (let i = 0; i < 2; i++) {
    const policy = tinyPolicy(device, 1);
    serving.push(policy);
    services.push(await served({ policy, speaks: 'vllm' }));
  }
  baseUrl = services.map(({ url }) => url).join(', ');
});
afterAll(async () => {
  for (const service of services) await service.close();
  for (const policy of [...serving, learning]) policy.dispose();
  device.dispose();
  rmSync(directory, { recursive: true });
});

const contextOf = (policy: TrainedPolicy): EngineContext => ({
  ...{ policy, directory, temperatures: [1], truncates: false },
  secret: () => '',
});
const requestOf = (conversation: string) => ({
  ...tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit?' }]),
  ...{ maxTokens: 8, ignoreEndOfTurn: true, stop: [], temperature: 1, conversation },
  seed: [3, 5] as const,
});

it('gives every engine the weights of the policy, which it writes once', async () => {
  const engine = await http.open(http.settings.parse({ baseUrl }), contextOf(learning));
  await engine.sync();
  await engine.sync();
  expect(readdirSync(join(directory, 'engine-weights'))).toHaveLength(1);
  expect(services.map((one) => one.count('/collective_rpc'))).toEqual([1, 1]);
  const { tokens } = await learning.sample(requestOf('here'));
  const asked = services.map((one) => one.count('/v1/completions'));
  const found = await Promise.all(['a', 'b'].map((name) => engine.sampler.sample(requestOf(name))));
  for (const one of found) expect(one.tokens).toEqual(tokens);
  const more = services.map((one, i) => one.count('/v1/completions') - (asked[i] ?? 0));
  expect(more).toEqual([1, 1]);
  engine.dispose?.();
});

it('asks a learner that publishes itself once for all engines', async () => {
  const targets: PublishTarget[] = [];
  const policy = new Proxy(learning as TrainedPolicy, {
    get(inner, name) {
      if (name === 'publish') return async (target: PublishTarget) => targets.push(target);
      const value: unknown = Reflect.get(inner, name, inner);
      return typeof value === 'function' ? value.bind(inner) : value;
    },
  });
  const engine = await http.open(http.settings.parse({ baseUrl }), contextOf(policy));
  await engine.sync();
  expect(targets).toEqual([{ kind: 'disk', urls: services.map(({ url }) => url) }]);
  engine.dispose?.();
});

it('refuses addresses that name no engine, or one twice', async () => {
  const open = (text: string) =>
    http.open(http.settings.parse({ baseUrl: text }), contextOf(learning));
  await expect(open(' , ')).rejects.toThrow(/engine\.baseUrl is " , ", which names no server/);
  await expect(open('http://a:1,http://b:1, http://a:1')).rejects.toThrow(
    /names http:\/\/a:1 twice/,
  );
});
