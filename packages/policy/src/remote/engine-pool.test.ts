/** Several engines behind one sampler: who is asked, who is lost, and which weights answer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { nativeBackend } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import type { SampleRequest, SampleResult } from '../policy.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import { EngineHttp } from './engine-http.ts';
import { EnginePool, type PublishTo } from './engine-pool.ts';
import { LastingEngine } from './lasting-engine.ts';
import { weightPublisher } from './publish-weights.ts';
import { openRemotePolicy, RemotePolicy } from './remote-policy.ts';
import { type Fault, type Served, served } from './served.fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'saccade-pool-'));
const COUNT = 3;
/** What an engine is asked while its weights change. */
const CHANGING = [
  ...['/pause', '/collective_rpc', '/update_weight_version', '/reset_prefix_cache'],
  '/update_weights_from_disk',
];
type Speaks = 'vllm' | 'sglang';
/** Weights by their version; the engines begin with those of version 0. */
const versions: LocalPolicy[] = [];
const services: Served[] = [];
const serving: LocalPolicy[] = [];
let engines: RemotePolicy[] = [];
let device: Device;
const answers = new Map<string, Promise<SampleResult>>();

beforeAll(() => {
  device = openDevice(nativeBackend({ threads: 1 }));
  for (let version = 0; version < 4; version++) versions.push(tinyPolicy(device, 10 + version));
});
afterAll(() => {
  // Not before: what a lost connection had begun runs to its end.
  for (const policy of [...versions, ...serving]) policy.dispose();
  device.dispose();
  rmSync(directory, { recursive: true });
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

function requestOf(name: string, seed: number): SampleRequest {
  const question = `Which digit is in ${name}?`;
  const { tokens, images } = tinyProcessor.encodePrompt([{ kind: 'text', text: question }]);
  return {
    ...{ tokens, images, maxTokens: 6, ignoreEndOfTurn: true, stop: [], temperature: 1 },
    ...{ seed: [seed, 5], conversation: name },
  };
}

/** The answer that the weights of a version give. */
function answerOf(version: number, name: string, seed: number): Promise<SampleResult> {
  const key = `${version} ${name} ${seed}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const answer = (versions[version] as LocalPolicy)
    .sample(requestOf(name, seed))
    .then((result) => ({ ...result, policyVersion: version }));
  answers.set(key, answer);
  return answer;
}

/** A pool of engines that each have weights of their own, and what gives it those of a version. */
async function openPool({
  returnSeconds = 5,
  count = COUNT,
  retries = 0,
  speaks = 'vllm' as Speaks,
} = {}) {
  engines = [];
  for (let i = 0; i < count; i++) {
    const policy = tinyPolicy(device, 10);
    serving.push(policy);
    const service = await served({ policy, speaks });
    services.push(service);
    const processor = engines[0]?.processor ?? tinyProcessor;
    const needs = { images: speaks === 'vllm' };
    engines.push(await openRemotePolicy({ baseUrl: service.url, processor, retries, needs }));
  }
  const onRestored = { run: (): void => {} };
  const publisher = weightPublisher(engines, {
    directory: mkdtempSync(join(directory, 'published-')),
    remove: (old) => rm(old, { recursive: true }),
  });
  const pool = new EnginePool(
    engines.map(
      (engine) =>
        new LastingEngine(engine, {
          ...{ returnSeconds, lookSeconds: 0.01 },
          restore: async () => {
            const version = await publisher.again(engine);
            onRestored.run();
            return version;
          },
        }),
    ),
  );
  const update = async (version: number): Promise<void> => {
    const weights = versions[version % versions.length] as LocalPolicy;
    const policy = { version, save: weights.save.bind(weights) };
    const publish: PublishTo = async (some) => {
      await publisher.publish(policy, some);
    };
    await pool.update(version, publish);
  };
  return { pool, update, onRestored };
}

const lost = (service: Served): void => {
  service.fault = (_, __, response) => {
    response.destroy();
    return true;
  };
};
const asked = (): readonly number[] => services.map((one) => one.count('/v1/completions'));

/** Another process at the address of an engine, with the first weights. */
function startOver(index: number, speaks: Speaks = 'vllm'): void {
  const policy = tinyPolicy(device, 10);
  serving.push(policy);
  services[index]?.restart({ policy, speaks });
}

it('spreads conversations evenly, and each stays where it began', async () => {
  const { pool } = await openPool();
  const before = asked();
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (let turn = 0; turn < 2; turn++) {
    await Promise.all(names.map((name) => pool.sample(requestOf(name, turn))));
    const more = asked().map((count, i) => count - (before[i] ?? 0));
    expect(more).toEqual([2, 2, 2].map((count) => count * (turn + 1)));
  }
  // One at a time, they still do not all go to the first.
  for (const name of names) pool.release(name);
  const then = asked();
  for (const name of ['g', 'h', 'i']) await pool.sample(requestOf(name, 0));
  expect(asked().map((count, i) => count - (then[i] ?? 0))).toEqual([1, 1, 1]);
});

it('sends an image to whichever engine its conversation is on', async () => {
  const { pool } = await openPool({ count: 2 });
  const png = await sharp({
    create: { width: 28, height: 28, channels: 3, background: '#a41' },
  })
    .png()
    .toBuffer();
  const image = await pool.processor.prepareImage(png);
  const { tokens, images } = pool.processor.encodePrompt([{ kind: 'image', image }]);
  const ask = (conversation: string) =>
    pool.sample({ ...requestOf('x', 1), tokens, images, conversation });
  const [one, other] = [await ask('one'), await ask('other')];
  expect(services.map((service) => service.count('/inference/v1/generate') > 1)).toEqual([
    true,
    true,
  ]);
  expect(other).toEqual(one);
});

it('asks elsewhere what a lost engine did not answer, and gives that one the new weights', async () => {
  const { pool, update } = await openPool();
  await update(1);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  await Promise.all(names.map((name) => pool.sample(requestOf(name, 0))));
  lost(services[1] as Served);
  const results = await Promise.all(names.map((name) => pool.sample(requestOf(name, 1))));
  expect(results).toEqual(await Promise.all(names.map((name) => answerOf(1, name, 1))));
  // Published while one is away: the others go on at once.
  await update(2);
  const meanwhile = await Promise.all(names.map((name) => pool.sample(requestOf(name, 2))));
  expect(meanwhile).toEqual(await Promise.all(names.map((name) => answerOf(2, name, 2))));
  const service = services[1] as Served;
  const reloads = service.count('/collective_rpc');
  service.fault = undefined;
  const until = Date.now() + 20_000;
  while (engines[1]?.version !== 2 && Date.now() < until) {
    await setTimeout(5);
  }
  expect(service.count('/collective_rpc')).toBe(reloads + 1);
  expect(await engines[1]?.reportedVersion()).toBe(2);
});

it('gives an engine that comes back what others get meanwhile, however close', async () => {
  const { pool, update, onRestored } = await openPool({ count: 2 });
  await update(1);
  for (let depth = 0; depth < 10; depth++) {
    const version = depth + 2;
    startOver(0);
    let updating: Promise<void> | undefined;
    onRestored.run = () => {
      let turn = Promise.resolve();
      for (let i = 0; i < depth; i++) turn = turn.then(() => {});
      void turn.then(() => (updating ??= update(version)));
    };
    // One of them finds the engine with other weights.
    await Promise.all([1, 2].map((name) => pool.sample(requestOf(`${depth} ${name}`, 0))));
    while (updating === undefined) await setTimeout(1);
    await updating;
    const before = asked()[0] ?? 0;
    for (let i = 0; (asked()[0] ?? 0) === before || i < 2; i++) {
      const { policyVersion } = await pool.sample(requestOf(`${depth} then ${i}`, 0));
      expect(policyVersion, `after ${depth} turns`).toBe(version);
    }
  }
});

it('leaves an engine that drains to itself, without an error', async () => {
  const { pool } = await openPool({ count: 2 });
  await Promise.all(['a', 'b'].map((name) => pool.sample(requestOf(name, 0))));
  const drained = services[0] as Served;
  drained.fault = (_, __, response) => {
    response.writeHead(503).end();
    return true;
  };
  const results = await Promise.all(['a', 'b', 'c'].map((name) => pool.sample(requestOf(name, 1))));
  expect(results).toEqual(await Promise.all(['a', 'b', 'c'].map((name) => answerOf(0, name, 1))));
  drained.fault = undefined;
});

it('asks elsewhere what an engine fails at', async () => {
  const { pool } = await openPool({ count: 2 });
  await Promise.all(['a', 'b'].map((name) => pool.sample(requestOf(name, 0))));
  const failing = services[0] as Served;
  failing.fault = (path, _, response) => {
    if (path !== '/v1/completions') return false;
    response.writeHead(500).end();
    return true;
  };
  const results = await Promise.all(['a', 'b', 'c'].map((name) => pool.sample(requestOf(name, 1))));
  expect(results).toEqual(await Promise.all(['a', 'b', 'c'].map((name) => answerOf(0, name, 1))));
});

it('goes on where one engine fails to load weights, and ends where all do', async () => {
  const { pool, update } = await openPool({ count: 2 });
  const failing = services[0] as Served;
  const fails: Fault = (path, _, response) => {
    if (path !== '/collective_rpc') return false;
    response.writeHead(500).end('no such directory');
    return true;
  };
  failing.fault = fails;
  await update(1);
  const results = await Promise.all(['a', 'b'].map((name) => pool.sample(requestOf(name, 1))));
  expect(results).toEqual(await Promise.all(['a', 'b'].map((name) => answerOf(1, name, 1))));
  failing.fault = undefined;
  while (engines[0]?.version !== 1) await setTimeout(5);
  for (const service of services) service.fault = fails;
  await expect(update(2)).rejects.toThrow(/answered 500: no such directory/);
});

it('asks elsewhere what an engine swallows', async () => {
  await openPool({ count: 2 });
  const [first, second] = engines as [RemotePolicy, RemotePolicy];
  const http = new EngineHttp({ baseUrl: first.http.url, retries: 0, timeoutSeconds: 0.3 });
  const hasty = new RemotePolicy(http, first.dialect, first.processor, first.report, 0);
  const pool = new EnginePool(
    [hasty, second].map((engine) => new LastingEngine(engine, { returnSeconds: 5 })),
  );
  const mute = services[0] as Served;
  mute.fault = (path) => path === '/v1/completions';
  const results = await Promise.all(['a', 'b'].map((name) => pool.sample(requestOf(name, 1))));
  expect(results).toEqual(await Promise.all(['a', 'b'].map((name) => answerOf(0, name, 1))));
  pool.close();
});

it('says which engine did not come back, once none is left', async () => {
  const { pool } = await openPool({ returnSeconds: 0.2, count: 2 });
  for (const service of services) lost(service);
  await expect(pool.sample(requestOf('a', 0))).rejects.toThrow(/was away for 0\.2 seconds/);
  expect(() => new EnginePool([])).toThrow(/Give at least one/);
});

/** Faults of one in `rarity` of the requests: cut before the work or after it, or turned away. */
interface Faults {
  /** Of which requests. Default: all. */
  readonly paths?: readonly string[];
  readonly rarity: number;
  readonly retries: number;
  /** Whether engines start over instead. */
  readonly startsOver?: boolean;
  readonly speaks: Speaks;
}

const faults = {
  'fails now and then': { rarity: 10, retries: 3 },
  'fails while weights change': { paths: CHANGING, rarity: 3, retries: 0 },
  'starts over now and then': { rarity: 15, retries: 0, startsOver: true },
  'starts over while weights change': { paths: CHANGING, rarity: 6, retries: 0, startsOver: true },
} satisfies Record<string, Omit<Faults, 'speaks'>>;
const campaigns: readonly (readonly [string, Faults])[] = (['vllm', 'sglang'] as const)
  .filter((speaks) => speaks === 'vllm' || process.env.SACCADE_SWEEP !== undefined)
  .flatMap((speaks) =>
    Object.entries(faults).map(
      ([name, own]) => [`${speaks}, which ${name}`, { ...own, speaks }] as const,
    ),
  );

it.each(campaigns)('gives what the weights that it names give: %s', async (_, own) => {
  const seeds =
    process.env.SACCADE_SWEEP === undefined ? [1] : Array.from({ length: 40 }, (_, i) => i);
  for (const seed of seeds) {
    const { pool, update } = await openPool({ returnSeconds: 30, ...own });
    const random = randomAt(seed, 'engine pool');
    for (const service of services) service.fault = faultOf(service, random, own);
    let [oldest, newest] = [0, 0];
    const publishing = (async () => {
      for (let version = 1; version < versions.length; version++) {
        newest = version;
        await update(version);
        oldest = version;
        startOver(random.integer(engines.length), own.speaks);
      }
    })();
    const last = versions.length - 1;
    const rollouts = Array.from({ length: 6 }, async (_, i) => {
      for (let turn = 0, version = 0; turn < 5 || version < last; turn++) {
        const least = oldest;
        const result = await pool.sample(requestOf(`${i}`, turn));
        version = result.policyVersion;
        expect(version).toBeGreaterThanOrEqual(least);
        expect(version).toBeLessThanOrEqual(newest);
        expect(result).toEqual(await answerOf(version, `${i}`, turn));
      }
      pool.release(`${i}`);
    });
    await Promise.all([publishing, ...rollouts]);
    for (const service of services) service.fault = undefined;
    expect((await pool.sample(requestOf('last', 9))).policyVersion).toBe(last);
    pool.close();
    for (const service of services.splice(0)) await service.close();
  }
});

function faultOf(service: Served, random: ReturnType<typeof randomAt>, own: Faults): Fault {
  return async (path, _, response) => {
    // Some requests overtake others.
    await setTimeout(random.integer(8));
    if (own.paths?.includes(path) === false || random.integer(own.rarity) > 0) return false;
    if (own.startsOver) {
      startOver(services.indexOf(service), own.speaks);
      return random.integer(2) === 0;
    }
    const what = random.integer(3);
    if (what === 0) {
      response.destroy();
      return true;
    }
    if (what === 1) {
      // What was asked for is done; its answer is lost.
      const lose = (): typeof response => response.destroy();
      Object.assign(response, { writeHead: lose, write: lose, end: lose });
      return false;
    }
    response.writeHead(own.paths ? 503 : random.pick([500, 502, 503])).end();
    return true;
  };
}
