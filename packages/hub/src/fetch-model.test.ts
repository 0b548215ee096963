import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, DataError, MissingError, type RunEvent } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloadBlob } from './download-blob.ts';
import { type FakeHub, openFakeHub, type ServedRepo, sha256 } from './fake-hub.ts';
import { fetchModel } from './fetch-model.ts';
import type { Hub } from './hub.ts';
import { parseModelSource } from './source.ts';

const NAME = 'owner/tiny-vl';
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const SHARDS = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'] as const;
const text = (value: string) => new TextEncoder().encode(value);
const large = (seed: number) => Uint8Array.from({ length: 5000 }, (_, i) => (i * seed) % 251);

const files = new Map<string, Uint8Array>([
  ['config.json', text('{"model_type":"qwen2_5_vl"}')],
  ['tokenizer.json', large(3)],
  ['chat_template.jinja', text('{{ messages }}')],
  [
    'model.safetensors.index.json',
    text(JSON.stringify({ weight_map: { a: SHARDS[0], b: SHARDS[1] } })),
  ],
  [SHARDS[0], large(7)],
  [SHARDS[1], large(11)],
  ['consolidated.safetensors', large(13)],
  ['pytorch_model.bin', large(17)],
  ['original/params.json', text('{}')],
]);

let cacheDirectory: string;
let served: ServedRepo;
let fake: FakeHub;
let events: RunEvent[];
beforeEach(async () => {
  cacheDirectory = await mkdtemp(join(tmpdir(), 'saccade-hub-'));
  served = { name: NAME, commit: COMMIT, revisions: ['main', 'v2'], files };
  fake = await openFakeHub(served);
  events = [];
});
afterEach(async () => {
  await fake.close();
  await rm(cacheDirectory, { recursive: true });
});

const hub = (changed: Partial<Hub> = {}): Hub => ({
  cacheDirectory,
  endpoint: fake.url,
  isOffline: false,
  retryMilliseconds: 1,
  onEvent: (event) => events.push(event),
  ...changed,
});
const folder = () => join(cacheDirectory, 'models--owner--tiny-vl');
const fetchTiny = (changed: Partial<Hub> = {}, revision = 'main') =>
  fetchModel(hub(changed), { name: NAME, revision });
const bodies = () => fake.requests.filter((line) => /resolve/.test(line) && !/=0-0$/.test(line));

describe('fetchModel', () => {
  it('downloads what a model needs into the layout that the Python library reads', async () => {
    const directory = await fetchTiny();
    expect(directory).toBe(join(folder(), 'snapshots', COMMIT));
    const wanted = [...files.keys()].filter((path) => !/consolidated|pytorch|original/.test(path));
    expect(readdirSync(directory).sort()).toEqual(wanted.sort());
    for (const path of wanted) {
      expect(readFileSync(join(directory, path)).equals(files.get(path) ?? text(''))).toBe(true);
      expect(lstatSync(join(directory, path)).isSymbolicLink()).toBe(true);
    }
    // Large files are known by their SHA-256, small ones by git's hash.
    expect(readlinkSync(join(directory, SHARDS[0]))).toBe(`../../blobs/${sha256(large(7))}`);
    // printf '{"model_type":"qwen2_5_vl"}' | git hash-object --stdin
    expect(readlinkSync(join(directory, 'config.json'))).toBe(
      '../../blobs/364061d2e1b28b18be1f2491b5d2dafe15e5174c',
    );
    expect(readFileSync(join(folder(), 'refs', 'main'), 'utf8')).toBe(COMMIT);
    expect(readdirSync(join(folder(), 'blobs')).some((name) => /incomplete/.test(name))).toBe(
      false,
    );
  });

  it('downloads nothing twice, and takes a tag, a commit and an offline cache', async () => {
    const directory = await fetchTiny();
    const before = bodies().length;
    expect(await fetchTiny({}, 'v2')).toBe(directory);
    expect(await fetchTiny({}, COMMIT)).toBe(directory);
    expect(bodies().length).toBe(before);
    const asked = fake.requests.length;
    expect(await fetchTiny({ isOffline: true })).toBe(directory);
    expect(fake.requests.length).toBe(asked);
  });

  it('goes on where a connection broke off, again and again', async () => {
    const whole = large(7);
    const starts: number[] = [];
    served.breakAfterBytes = 2000;
    const directory = await fetchTiny();
    expect(readFileSync(join(directory, SHARDS[0])).equals(whole)).toBe(true);
    for (const line of bodies().filter((one) => one.includes(SHARDS[0]))) {
      starts.push(Number(/bytes=(\d+)/.exec(line)?.[1] ?? 0));
    }
    expect(starts).toEqual([0, 2000, 4000]);
  });

  it('goes on where a process was killed, and leaves the file of a running one alone', async () => {
    const blobs = join(folder(), 'blobs');
    await mkdir(blobs, { recursive: true });
    const [first, second] = [large(7), large(11)];
    // No process has this id: it is above the largest of Linux.
    await writeFile(join(blobs, `${sha256(first)}.incomplete.4194305`), first.slice(0, 3000));
    await writeFile(join(blobs, `${sha256(second)}.incomplete.1`), second.slice(0, 10));
    await fetchTiny();
    expect(bodies().find((line) => line.includes(SHARDS[0]))).toMatch(/bytes=3000-/);
    expect(bodies().find((line) => line.includes(SHARDS[1]))).not.toMatch(/bytes/);
    expect(existsSync(join(blobs, `${sha256(second)}.incomplete.1`))).toBe(true);
  });

  it('removes a file that arrives damaged, and says so', async () => {
    served.damagedFile = SHARDS[1];
    const failed = fetchTiny();
    await expect(failed).rejects.toThrow(DataError);
    await expect(failed).rejects.toThrow(/model-00002-of-00002.safetensors arrived with the hash/);
    delete served.damagedFile;
    const directory = await fetchTiny();
    expect(readFileSync(join(directory, SHARDS[1])).equals(large(11))).toBe(true);
  });

  it('reports how much is there', async () => {
    await fetchTiny();
    const notes = events.map((event) => (event.kind === 'progress' ? event.note : event.kind));
    expect(notes).toContain(`MB of ${SHARDS[0]} (0.0 MB)`);
  });

  it('says what is wrong where the network is gone, and takes a whole copy in the cache', async () => {
    await fake.close();
    const failed = fetchTiny();
    await expect(failed).rejects.toThrow(MissingError);
    await expect(failed).rejects.toThrow(/cannot be reached for owner\/tiny-vl .*HF_HUB_OFFLINE=1/);
    fake = await openFakeHub(served);
    const directory = await fetchTiny();
    await fake.close();
    events = [];
    expect(await fetchTiny()).toBe(directory);
    expect(events[0]).toMatchObject({ kind: 'warning' });
  });

  it('names the file that an offline cache lacks', async () => {
    await expect(fetchTiny({ isOffline: true })).rejects.toThrow(/has no owner\/tiny-vl of/);
    const directory = await fetchTiny();
    await rm(join(directory, SHARDS[1]));
    const offline = fetchTiny({ isOffline: true });
    await expect(offline).rejects.toThrow(MissingError);
    await expect(offline).rejects.toThrow(/has no model-00002-of-00002.safetensors of/);
  });

  it('refuses what the disk has no room for, before and while it downloads', async () => {
    served.listedSize = { file: SHARDS[0], sizeBytes: 2 ** 60 };
    await expect(fetchTiny()).rejects.toThrow(/no room for 2 files \(1152921504.6 GB\)/);
    delete served.listedSize;
    // Every write to this device fails as one to a full disk does.
    const partial = join(folder(), 'blobs', `${sha256(large(7))}.incomplete`);
    await symlink('/dev/full', partial);
    const failed = fetchTiny();
    await expect(failed).rejects.toThrow(DataError);
    await expect(failed).rejects.toThrow(/no room for model-00001-of-00002.safetensors \(0.0 MB\)/);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'an unknown model',
      () => fetchModel(hub(), { name: 'owner/none', revision: 'main' }),
      /there is no model owner\/none at http.*HF_TOKEN/,
    ],
    ['an unknown revision', () => fetchTiny({}, 'v3'), /has no revision "v3"/],
    [
      'a gated model',
      () => {
        served.isGated = true;
        return fetchTiny();
      },
      /is gated. Accept its terms/,
    ],
  ])('refuses %s', async (_, fetching, message) => {
    const failed = fetching();
    await expect(failed).rejects.toThrow(ConfigError);
    await expect(failed).rejects.toThrow(message);
  });

  it.each([
    ['no config.json', ['config.json'], /owner\/tiny-vl has no config.json/],
    [
      'no safetensors',
      ['model.safetensors.index.json', ...SHARDS],
      /neither model.safetensors nor .* It has pytorch_model.bin/,
    ],
    ['a shard less than its index', [SHARDS[1]], /names "model-00002-of-00002.safetensors"/],
  ])('refuses a repository with %s', async (_, absent, message) => {
    const left = new Map([...files].filter(([path]) => !absent.includes(path)));
    await fake.close();
    fake = await openFakeHub({ ...served, files: left });
    await expect(fetchTiny()).rejects.toThrow(message);
    await expect(fetchTiny()).rejects.toThrow(DataError);
  });
});

describe('downloadBlob', () => {
  it('gives two downloads of one file each its own half-done file', async () => {
    const bytes = large(5);
    const file = {
      path: 'w',
      sizeBytes: bytes.length,
      hash: sha256(bytes),
      hashKind: 'sha256',
    } as const;
    const target = join(cacheDirectory, 'blob');
    await appendFile(`${target}.incomplete`, bytes.slice(0, 100));
    const starts: number[] = [];
    const open = async (start: number) => {
      starts.push(start);
      return new Blob([bytes.slice(start)]).stream() as never;
    };
    await downloadBlob(target, file, open, () => {});
    await downloadBlob(target, file, open, () => {});
    expect(starts).toEqual([100]);
    expect(readFileSync(target).equals(bytes)).toBe(true);
  });
});

describe('parseModelSource', () => {
  it.each([
    ['models/tiny', { kind: 'directory', directory: 'models/tiny' }],
    ['hf:owner/name', { kind: 'hub', name: 'owner/name', revision: 'main' }],
    ['hf:owner/name@v1.0', { kind: 'hub', name: 'owner/name', revision: 'v1.0' }],
    ['hf:gpt2', { kind: 'hub', name: 'gpt2', revision: 'main' }],
  ])('reads %s', (from, source) => {
    expect(parseModelSource(from, 'model.from')).toEqual(source);
  });

  it.each(['hf:', 'hf:a/b/c', 'hf:a/b@', 'hf:../b', 'hf:a/b@c@d'])('refuses %s', (from) => {
    expect(() => parseModelSource(from, 'model.from')).toThrow(/model.from: expected hf:owner/);
  });
});
