/** New weights for an engine, by way of a directory, while others ask it. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPolicy } from '../local-policy.ts';
import type { SampleRequest } from '../policy.ts';
import { tinyPolicy, tinyProcessor } from '../tiny-policy.fixture.ts';
import { resumeEngine, weightPublisher } from './publish-weights.ts';
import { openRemotePolicy, type RemotePolicy } from './remote-policy.ts';
import { type Served, served } from './served.fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'saccade-publish-'));
let device: Device;
/** Serves, and learns: two policies of other weights. */
let serving: LocalPolicy;
let learning: LocalPolicy;
beforeAll(() => {
  device = openDevice(nativeBackend({ threads: 1 }));
  learning = tinyPolicy(device, 2);
});
afterAll(() => {
  learning.dispose();
  device.dispose();
  rmSync(directory, { recursive: true });
});

const request = (i: number): SampleRequest => ({
  ...tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit?' }]),
  maxTokens: 16,
  ignoreEndOfTurn: true,
  stop: [],
  temperature: 1,
  seed: [i, 5],
  conversation: `c${i}`,
});

describe('an engine that a publisher pauses', () => {
  let service: Served;
  let remote: RemotePolicy;
  beforeAll(async () => {
    serving = tinyPolicy(device, 1);
    service = await served({ policy: serving, speaks: 'vllm' });
    remote = await openRemotePolicy({ baseUrl: service.url, processor: tinyProcessor, retries: 0 });
  });
  afterAll(async () => {
    await service.close();
    serving.dispose();
  });
  /** Breaks the connections of the next requests of a path, served or not. */
  const cut = (path: string, count: number): void => {
    let left = count;
    service.fault = (own, _, response) => {
      if (own !== path || left-- <= 0) return false;
      response.destroy();
      return true;
    };
  };

  it('goes on where the network loses the words that tell it so', async () => {
    const publisher = weightPublisher(remote, { directory: join(directory, 'lossy') });
    const learned = { version: 3, save: learning.save.bind(learning) };
    cut('/resume', 3);
    await publisher.publish(learned);
    expect((await remote.sample(request(0))).policyVersion).toBe(3);
    cut('/collective_rpc', 1);
    await expect(publisher.publish({ ...learned, version: 4 })).rejects.toThrow(/broke off/);
    expect((await remote.sample(request(0))).policyVersion).toBe(3);
    service.fault = undefined;
  });

  it('keeps what an engine still loads, until it has', async () => {
    const own = join(directory, 'kept');
    const remove = (old: string) => rm(old, { recursive: true });
    const publisher = weightPublisher(remote, { directory: own, remove });
    const publish = (version: number, only?: readonly RemotePolicy[]) =>
      publisher.publish({ version, save: learning.save.bind(learning) }, only);
    await publish(5);
    let goOn = (): void => {};
    const begun = new Promise<void>((begin) => {
      service.fault = async (path) => {
        if (path !== '/collective_rpc') return false;
        begin();
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        return false;
      };
    });
    const loading = publisher.again(remote);
    await begun;
    service.fault = undefined;
    await publish(6, []);
    expect(readdirSync(own)).toEqual(['version-00000005', 'version-00000006']);
    goOn();
    expect(await loading).toBe(5);
    await publish(6);
    expect(readdirSync(own)).toEqual(['version-00000006']);
    expect((await remote.sample(request(0))).policyVersion).toBe(6);
  });

  it('goes on for the next one, if the publisher was killed', async () => {
    await remote.http.post('/pause?mode=wait', '{}');
    const waiting = remote.sample(request(1));
    await resumeEngine({ baseUrl: service.url });
    expect((await waiting).tokens.length).toBeGreaterThan(0);
    // Whoever cannot be asked is left alone.
    await resumeEngine({ baseUrl: 'http://127.0.0.1:1', retries: 0 });
  });
});

describe.each(['vllm', 'sglang'] as const)('weights published to a %s service', (speaks) => {
  let service: Served;
  let remote: RemotePolicy;
  beforeAll(async () => {
    serving = tinyPolicy(device, 1);
    service = await served({ policy: serving, speaks });
    remote = await openRemotePolicy({ baseUrl: service.url, processor: tinyProcessor });
  });
  afterAll(async () => {
    await service.close();
    serving.dispose();
  });

  it('give the tokens of the policy that learned, under its version, also to running rollouts', async () => {
    const publisher = weightPublisher(remote, {
      directory: join(directory, speaks),
      remove: (old) => rm(old, { recursive: true }),
    });
    const before = await remote.sample(request(0));
    expect(before.policyVersion).toBe(0);
    const wanted = await learning.sample(request(0));
    learning.release('c0');
    expect(before.tokens).not.toEqual(wanted.tokens);
    const learned = { version: 7, save: learning.save.bind(learning) };
    // Requests that run while the weights change: each is of the old weights, or of the new.
    const during = Array.from({ length: 6 }, (_, i) => remote.sample(request(i)));
    await publisher.publish(learned);
    for (const result of await Promise.all(during)) expect([0, 7]).toContain(result.policyVersion);
    expect(remote.version).toBe(7);
    expect(await remote.sample(request(0))).toEqual({ ...wanted, policyVersion: 7 });
    await publisher.publish({ ...learned, version: 8 });
    expect((await remote.sample(request(0))).policyVersion).toBe(8);
    expect(readdirSync(join(directory, speaks))).toEqual(['version-00000008']);
  });

  it('leave the engine answering with its old weights where it cannot read them', async () => {
    const publisher = weightPublisher(remote, {
      directory: join(directory, 'x'),
      engineDirectory: '/nowhere',
    });
    const { tokens } = await remote.sample(request(1));
    await expect(publisher.publish({ version: 9, save: async () => {} })).rejects.toThrow(
      /nowhere/,
    );
    const after = await remote.sample(request(1));
    expect(after).toMatchObject({ tokens, policyVersion: 8 });
  });
});
