/**
 * Everything that can be wrong with a checkpoint or its download, at the door that a run comes in by:
 * one typed error each, which names what is wrong and what to do, and no memory is kept.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError, DataError, MissingError, randomAt, SaccadeError } from '@saccade/core';
import { readSettings } from '@saccade/core/settings';
import { type FakeHub, openFakeHub, type ServedRepo, sha256 } from '@saccade/hub/fake-hub';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalPolicy } from '../open-policy.ts';
import { tinyModel, tinyProcessor } from '../tiny-policy.fixture.ts';
import { pretrained } from './pretrained.ts';

let device: Device;
let root: string;
/** A checkpoint of bf16 in shards, and an adapter of other weights. */
let published: string;
let adapter: string;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 2 }));
  root = await mkdtemp(join(tmpdir(), 'saccade-bad-checkpoints-'));
  published = join(root, 'published');
  adapter = join(root, 'adapter');
  const parts = { device, model: tinyModel, processor: tinyProcessor, seed: 3 };
  const policy = createLocalPolicy({ ...parts, dtype: 'bf16' });
  await policy.save(published, { maxShardBytes: 30_000 });
  policy.dispose();
  const lora = { rank: 2, alpha: 2, rsLora: false, targets: { language: ['q_proj'] } };
  const other = createLocalPolicy({ ...parts, seed: 4, lora });
  await other.save(adapter);
  other.dispose();
  for (const name of readdirSync(adapter)) {
    if (/^model/.test(name)) await rm(join(adapter, name));
  }
});
afterAll(async () => {
  device.dispose();
  await rm(root, { recursive: true });
});

interface Opening {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly endpoint?: string;
  readonly cacheDirectory?: string;
}

const NO_HUB = 'http://127.0.0.1:9';

function open({ settings, endpoint = NO_HUB, cacheDirectory = join(root, 'cache') }: Opening) {
  return pretrained.open(readSettings('model', pretrained.settings, settings), {
    device,
    seed: 1,
    valueHead: false,
    corpus: [],
    hub: { cacheDirectory, endpoint, isOffline: false, retryMilliseconds: 1 },
  });
}

/** A copy of the checkpoint after a change. */
async function changed(change: (folder: string) => Promise<unknown>): Promise<Opening> {
  const folder = await mkdtemp(join(root, 'changed-'));
  await cp(published, folder, { recursive: true });
  await change(folder);
  return { settings: { from: folder } };
}

const changedConfig = (change: (json: Record<string, unknown>) => unknown) =>
  changed(async (folder) => {
    const path = join(folder, 'config.json');
    await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')))));
  });

const shards = (): readonly string[] =>
  readdirSync(published).filter((name) => name.endsWith('.safetensors'));

let hubs: FakeHub[] = [];
afterAll(async () => {
  for (const hub of hubs) await hub.close();
  hubs = [];
});

/** The checkpoint on a hub, as it goes wrong there. */
async function served(wrong: Partial<ServedRepo>, cacheDirectory?: string): Promise<Opening> {
  const files = new Map(
    readdirSync(published).map((name) => [name, readFileSync(join(published, name))]),
  );
  const model = { name: 'owner/tiny', commit: 'c'.repeat(40), revisions: ['main'], files };
  const hub = await openFakeHub({ ...model, ...wrong });
  hubs.push(hub);
  return {
    settings: { from: 'hf:owner/tiny' },
    endpoint: hub.url,
    cacheDirectory: cacheDirectory ?? (await mkdtemp(join(root, 'cache-'))),
  };
}

type ErrorClass = new (...args: never[]) => Error;

const cases: readonly [string, () => Promise<Opening>, ErrorClass, RegExp][] = [
  [
    'a shard that is missing',
    () => changed((folder) => rm(join(folder, shards()[1] as string))),
    DataError,
    /names "model-00002-of-\d+\.safetensors", which is not there\. Download the shards/,
  ],
  [
    'a shard that the hub lacks',
    async () => {
      const files = new Map(
        readdirSync(published)
          .filter((name) => name !== shards()[1])
          .map((name) => [name, readFileSync(join(published, name))]),
      );
      return served({ files });
    },
    DataError,
    /names "model-00002-of-\d+\.safetensors", which the repository does not have/,
  ],
  [
    'a file with the wrong hash',
    () => served({ damagedFile: shards()[0] as string }),
    DataError,
    /model-00001-of-\d+\.safetensors arrived with the hash/,
  ],
  [
    'a file that is truncated',
    () => changed((folder) => truncate(join(folder, shards()[0] as string), 20_000)),
    DataError,
    /model-00001-of-\d+\.safetensors is not a valid safetensors file: it is truncated/,
  ],
  [
    'an architecture that is unknown',
    () => changedConfig((json) => ({ ...json, model_type: 'llama' })),
    ConfigError,
    /model_type must be one of .*qwen3_vl_moe.*; got "llama"\. Use a checkpoint/,
  ],
  [
    'a vocabulary that does not fit',
    () =>
      changedConfig((json) => ({
        ...json,
        text_config: { ...(json.text_config as object), vocab_size: 10 },
      })),
    ConfigError,
    /The tokenizer has 266 tokens, the model 10/,
  ],
  [
    'an adapter for another base',
    async () => ({ settings: { from: published, adapter } }),
    DataError,
    /The adapter in .* is not one of .*/,
  ],
  [
    'a disk that is full before the download',
    () => served({ listedSize: { file: shards()[0] as string, sizeBytes: 2 ** 60 } }),
    DataError,
    /no room for .* files/,
  ],
  [
    'a disk that fills during the download',
    async () => {
      const cache = await mkdtemp(join(root, 'full-'));
      const opening = await served({}, cache);
      const blobs = join(cache, 'models--owner--tiny', 'blobs');
      const bytes = readFileSync(join(published, shards()[0] as string));
      await mkdir(blobs, { recursive: true });
      // Every write to this device fails as one to a full disk does.
      await symlink('/dev/full', join(blobs, `${sha256(bytes)}.incomplete`));
      return opening;
    },
    DataError,
    /no room for model-00001-of-\d+\.safetensors/,
  ],
  [
    'no network',
    async () => ({
      settings: { from: 'hf:owner/tiny' },
      cacheDirectory: await mkdtemp(join(root, 'empty-')),
    }),
    MissingError,
    /The hub at http:\/\/127\.0\.0\.1:9 cannot be reached for owner\/tiny .*HF_HUB_OFFLINE=1/,
  ],
];

describe('a checkpoint', () => {
  it.each(cases)('with %s is refused in words, and keeps no memory', async (...one) => {
    const [, prepare, kind, message] = one;
    const opening = await prepare();
    const before = device.allocatedBytes();
    const failure = await open(opening).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(kind);
    expect((failure as Error).message).toMatch(message);
    expect(device.allocatedBytes()).toBe(before);
  });

  const rounds = process.env.SACCADE_SWEEP === undefined ? 150 : 2000;
  it(`with random bytes changed or cut off is opened, or refused in words (${rounds} rounds)`, async () => {
    const random = randomAt(1, 'damaged checkpoints');
    const before = device.allocatedBytes();
    const folder = await mkdtemp(join(root, 'fuzzed-'));
    await cp(published, folder, { recursive: true });
    const names = readdirSync(published);
    let refused = 0;
    for (let round = 0; round < rounds; round++) {
      const name = names[random.integer(names.length)] as string;
      const whole = readFileSync(join(published, name));
      const bytes = Buffer.from(whole);
      // Mostly at the beginning, where headers are.
      const most = random.integer(3) > 0 ? Math.min(400, bytes.length) : bytes.length;
      const place = random.integer(Math.max(1, most));
      const kind = random.integer(3);
      if (kind === 0) bytes[place] = (bytes[place] ?? 0) ^ (1 << random.integer(8));
      if (kind === 1) bytes[place] = random.integer(256);
      await writeFile(join(folder, name), kind === 2 ? bytes.subarray(0, place) : bytes);
      const outcome = await open({ settings: { from: folder } }).catch((error: unknown) => error);
      if (outcome instanceof Error) {
        refused++;
        const what = `round ${round}: ${name} at ${place}, ${outcome.stack}`;
        expect(outcome, what).toBeInstanceOf(SaccadeError);
      } else {
        (outcome as Awaited<ReturnType<typeof open>>).dispose();
      }
      expect(device.allocatedBytes(), `round ${round}: ${name}`).toBe(before);
      await writeFile(join(folder, name), whole);
    }
    expect(refused).toBeGreaterThan(rounds / 3);
  }, 900_000);
});
