import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError, DataError } from '@saccade/core';
import { readSettings } from '@saccade/core/settings';
import { openFakeHub, sha256 } from '@saccade/hub/fake-hub';
import { readSafetensors, writeSafetensors } from '@saccade/nn/files';
import { type Device, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalPolicy, loadLocalPolicy } from '../open-policy.ts';
import { tinyModel, tinyProcessor } from '../tiny-policy.fixture.ts';
import { pretrained } from './pretrained.ts';

let device: Device;
let directory: string;
/** A checkpoint of bf16 in shards. */
let published: string;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 2 }));
  directory = await mkdtemp(join(tmpdir(), 'saccade-pretrained-'));
  published = join(directory, 'published');
  const parts = { device, model: tinyModel, processor: tinyProcessor, seed: 3 };
  const policy = createLocalPolicy({ ...parts, dtype: 'bf16' });
  await policy.save(published, { maxShardBytes: 30_000 });
  policy.dispose();
});
afterAll(async () => {
  device.dispose();
  await rm(directory, { recursive: true });
});

const tokens = tinyProcessor.encodeModelText('Which digit is hidden?', true);
const batch = {
  segments: [{ tokens, images: [], parent: -1 }],
  rows: Int32Array.from(tokens.slice(1), (_, i) => i),
  targets: tokens.slice(1),
};

const open = (settings: Record<string, unknown>, endpoint = 'http://127.0.0.1:9') =>
  pretrained.open(readSettings('model', pretrained.settings, { from: published, ...settings }), {
    device,
    seed: 1,
    valueHead: false,
    corpus: [],
    hub: { cacheDirectory: join(directory, 'cache'), endpoint, isOffline: false },
  });

const weightsIn = (folder: string) =>
  new Map(
    readdirSync(folder)
      .filter((name) => name.includes('safetensors'))
      .map((name) => [name, sha256(readFileSync(join(folder, name)))]),
  );

describe('pretrained', () => {
  it('saves the shards, names and types that it opened, byte for byte', async () => {
    const shards = weightsIn(published);
    expect(shards.size).toBeGreaterThan(3);
    const policy = await open({});
    const folder = join(directory, 'again');
    await policy.save(folder);
    expect(weightsIn(folder)).toEqual(shards);
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    expect(config).toEqual(JSON.parse(readFileSync(join(published, 'config.json'), 'utf8')));
    expect(config.dtype).toBe('bfloat16');
    // Half of what f32 takes.
    const bytes = Object.values(policy.parameters).reduce((sum, { size }) => sum + 2 * size, 0);
    expect(device.allocatedBytes()).toBe(bytes);
    policy.dispose();
  });

  it('takes f32 weights in the place of bf16, and saves those', async () => {
    const policy = await open({ dtype: 'f32' });
    const folder = join(directory, 'wide');
    await policy.save(folder);
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).dtype).toBe('float32');
    const loaded = await loadLocalPolicy({ device, directory: folder });
    expect(await loaded.score(batch)).toEqual(await policy.score(batch));
    policy.dispose();
    loaded.dispose();
  });

  it('opens the model of a hub, and again from its cache', async () => {
    const files = new Map(
      readdirSync(published).map((name) => [name, readFileSync(join(published, name))]),
    );
    const commit = 'c'.repeat(40);
    const served = { name: 'owner/tiny', commit, revisions: ['main', 'v2'], files };
    const hub = await openFakeHub(served);
    const local = await open({ dtype: 'f32' });
    const policy = await open({ from: 'hf:owner/tiny@v2', dtype: 'f32' }, hub.url);
    expect(await policy.score(batch)).toEqual(await local.score(batch));
    await hub.close();
    const lora = { rank: 2 };
    const adapted = await open({
      from: 'hf:owner/tiny@v2',
      dtype: 'f32',
      localFilesOnly: true,
      lora,
    });
    const folder = join(directory, 'adapter');
    await adapted.save(folder);
    const config = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'));
    expect(config).toMatchObject({ base_model_name_or_path: 'owner/tiny', revision: 'v2' });
    // The adapter names the model, and remembers that it was loaded as f32.
    const named = await loadLocalPolicy({
      device,
      directory: folder,
      findBase: async (name, revision) => {
        expect([name, revision]).toEqual(['owner/tiny', 'v2']);
        return published;
      },
    });
    expect(await named.score(batch)).toEqual(await local.score(batch));
    for (const one of [local, policy, adapted, named]) one.dispose();
  });

  it('downloads no weights of an architecture that is unknown', async () => {
    const files = new Map([
      ['config.json', new TextEncoder().encode('{"model_type":"llama"}')],
      ['model.safetensors', readFileSync(join(published, 'tokenizer.json'))],
    ]);
    const served = { name: 'owner/llama', commit: 'd'.repeat(40), revisions: ['main'], files };
    const hub = await openFakeHub(served);
    const opening = open({ from: 'hf:owner/llama' }, hub.url);
    await expect(opening).rejects.toThrow(/model_type must be one of/);
    expect(hub.requests.some((line) => line.includes('resolve/') && /safetensors/.test(line))).toBe(
      false,
    );
    await hub.close();
  });

  it('refuses an adapter of another model of the hub', async () => {
    const adapter = join(directory, 'adapter');
    const path = join(adapter, 'adapter_model.safetensors');
    // As of peft: without a fingerprint.
    await writeSafetensors(path, await readSafetensors(path));
    const opening = loadLocalPolicy({
      device,
      directory: published,
      adapterDirectory: adapter,
      origin: { name: 'owner/other' },
    });
    await expect(opening).rejects.toThrow(/not one of owner\/other: it was trained on owner\/tiny/);
  });

  it.each<[readonly string[], RegExp, RegExp]>([
    [['language'], /^model\./, /^visual\./],
    [['language', 'merger'], /^model\.|^visual\.merger/, /^visual\.blocks/],
    [['model\\.layers\\.1\\..*'], /^model\.layers\.1\./, /^model\.layers\.0|^visual/],
  ])('trains %j alone', async (trainable, trained, frozen) => {
    const policy = await open({ dtype: 'f32', trainable });
    expect(policy.trainable.length).toBeGreaterThan(0);
    for (const name of policy.trainable) expect(name).toMatch(trained);
    expect(policy.trainable.some((name) => frozen.test(name))).toBe(false);
    policy.dispose();
  });

  /** A copy of the checkpoint with one file changed. */
  async function changed(file: string, change: (json: Record<string, unknown>) => unknown) {
    const folder = await mkdtemp(join(directory, 'changed-'));
    await cp(published, folder, { recursive: true });
    const path = join(folder, file);
    const text = JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8'))));
    await writeFile(path, text);
    return { from: folder };
  }

  it.each<
    [string, () => Promise<Record<string, unknown>>, new (...args: never[]) => Error, RegExp]
  >([
    [
      'no directory',
      async () => ({ from: 'nowhere/at/all' }),
      ConfigError,
      /there is no directory/,
    ],
    [
      'a name without its hub',
      async () => ({ from: 'Qwen/Qwen2.5-VL-3B-Instruct' }),
      ConfigError,
      /For the model of a hub write hf:Qwen\/Qwen2.5-VL-3B-Instruct/,
    ],
    [
      'a directory of something else',
      async () => ({ from: tmpdir() }),
      DataError,
      /config.json in/,
    ],
    [
      'an architecture that is unknown',
      () => changed('config.json', (json) => ({ ...json, model_type: 'llama' })),
      ConfigError,
      /model_type must be one of .*qwen2_5_vl.*; got "llama"/,
    ],
    [
      'a vocabulary that does not fit',
      () =>
        changed('config.json', (json) => ({
          ...json,
          text_config: { ...(json.text_config as object), vocab_size: 10 },
        })),
      ConfigError,
      /The tokenizer has 266 tokens, the model 10/,
    ],
    [
      'a pattern that names nothing',
      async () => ({ trainable: ['decoder'] }),
      ConfigError,
      /model.trainable: "decoder" names no parameter/,
    ],
    [
      'frozen weights that are to train',
      async () => ({ trainable: ['language'], lora: {} }),
      ConfigError,
      /is frozen below the adapter/,
    ],
  ])('refuses %s, and keeps no memory', async (_, prepare, kind, message) => {
    const before = device.allocatedBytes();
    const opening = open(await prepare());
    await expect(opening).rejects.toThrow(kind);
    await expect(opening).rejects.toThrow(message);
    expect(device.allocatedBytes()).toBe(before);
  });
});
