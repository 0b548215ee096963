/** The unit `http` over two engines: one directory of weights, one call to a learner that publishes itself. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import type { EngineContext } from '../remote/engine.ts';
import { EngineError } from '../remote/engine-error.ts';
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

/** A policy that learns elsewhere, and publishes from there. */
function remoteLearner(own: {
  readonly version?: number;
  publish(target: PublishTarget): Promise<unknown>;
}): TrainedPolicy {
  return new Proxy(learning as TrainedPolicy, {
    get(inner, name) {
      const value: unknown = Reflect.get(name in own ? own : inner, name);
      return typeof value === 'function' ? value.bind(name in own ? own : inner) : value;
    },
  });
}

it('asks a learner that publishes itself once for all engines', async () => {
  const targets: PublishTarget[] = [];
  const policy = remoteLearner({ publish: async (target) => targets.push(target) });
  const engine = await http.open(http.settings.parse({ baseUrl }), contextOf(policy));
  await engine.sync();
  expect(targets).toEqual([{ kind: 'disk', urls: services.map(({ url }) => url) }]);
  engine.dispose?.();
});

it('takes no answer of weights that a learner elsewhere loaded and did not name', async () => {
  const learned = [learning, tinyPolicy(device, 3)];
  serving.push(learned[1] as LocalPolicy);
  const wanted: Int32Array[] = [];
  for (const policy of learned) {
    await policy.save(join(directory, `learned-${wanted.length}`));
    wanted.push((await policy.sample(requestOf('wanted'))).tokens);
  }
  expect(wanted[0]).not.toEqual(wanted[1]);
  let breaks = 0;
  const own = {
    version: 0,
    async publish({ urls }: PublishTarget) {
      const post = (url: string, body: object) =>
        fetch(url, { method: 'POST', body: JSON.stringify(body) });
      const weights_path = join(directory, `learned-${this.version}`);
      for (const url of urls) {
        await post(`${url}/pause?mode=wait`, {});
        await post(`${url}/collective_rpc`, {
          ...{ method: 'reload_weights', kwargs: { weights_path } },
        });
        const isBroken = breaks-- > 0;
        const new_version = String(this.version);
        if (!isBroken) await post(`${url}/update_weight_version`, { new_version });
        await post(`${url}/resume`, {});
        if (!isBroken) continue;
        // Long enough for answers of the new weights, under the old version.
        await setTimeout(100);
        throw new EngineError('broken', 'The learner lost the engine.');
      }
    },
  };
  const engine = await http.open(http.settings.parse({ baseUrl }), contextOf(remoteLearner(own)));
  await engine.sync();
  own.version = 1;
  breaks = 1;
  const syncing = engine.sync();
  const versions = new Set<number>();
  for (let i = 0; !versions.has(1) && i < 1000; i++) {
    const names = ['a', 'b', 'c'].map((name) => `${name}${i}`);
    const found = await Promise.all(names.map((name) => engine.sampler.sample(requestOf(name))));
    for (const { policyVersion, tokens } of found) {
      expect(tokens).toEqual(wanted[policyVersion]);
      versions.add(policyVersion);
    }
  }
  await syncing;
  expect([...versions]).toContain(1);
  expect(breaks).toBeLessThan(0);
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
