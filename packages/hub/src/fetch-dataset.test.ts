import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, DataError, MissingError, type RunEvent } from '@saccade/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeHub, openFakeHub, type ServedRepo } from './fake-hub.ts';
import { fetchDataset } from './fetch-dataset.ts';
import type { Hub } from './hub.ts';
import { parseSource } from './source.ts';

const COMMIT = '89abcdef0123456789abcdef0123456789abcdef';
const bytes = (value: string) => new TextEncoder().encode(value);
const files = new Map([
  ['README.md', bytes('---\nlicense: mit\n---\n')],
  ['data/train-00000-of-00001.parquet', Uint8Array.from({ length: 3000 }, (_, i) => i % 251)],
  ['data/test-00000-of-00001.parquet', bytes('test')],
]);
const train = 'data/train-00000-of-00001.parquet';
const repo = { name: 'owner/charts', revision: 'main' };
const choose = (paths: readonly string[]) => paths.filter((path) => path.includes('train'));

let cacheDirectory: string;
let served: ServedRepo;
let fake: FakeHub;
let events: RunEvent[];
beforeEach(async () => {
  cacheDirectory = await mkdtemp(join(tmpdir(), 'saccade-hub-'));
  served = { name: repo.name, kind: 'dataset', commit: COMMIT, revisions: ['main'], files };
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

describe('fetchDataset', () => {
  it('downloads the chosen files and the card into the layout that the Python library reads', async () => {
    const directory = await fetchDataset(hub(), repo, { choose });
    expect(directory).toBe(join(cacheDirectory, 'datasets--owner--charts', 'snapshots', COMMIT));
    expect(readFileSync(join(directory, train)).length).toBe(3000);
    expect(existsSync(join(directory, 'README.md'))).toBe(true);
    expect(existsSync(join(directory, 'data/test-00000-of-00001.parquet'))).toBe(false);
    expect(await fetchDataset(hub({ isOffline: true }), repo, { choose })).toBe(directory);
  });

  it('goes on where a connection broke off', async () => {
    served.breakAfterBytes = 1300;
    const directory = await fetchDataset(hub(), repo, { choose });
    expect(readFileSync(join(directory, train)).equals(files.get(train) ?? bytes(''))).toBe(true);
  });

  it('takes the copy in the cache where the network is gone, and says so', async () => {
    await fake.close();
    await expect(fetchDataset(hub(), repo, { choose })).rejects.toThrow(MissingError);
    fake = await openFakeHub(served);
    const directory = await fetchDataset(hub(), repo, { choose });
    await fake.close();
    events = [];
    expect(await fetchDataset(hub(), repo, { choose })).toBe(directory);
    expect(events).toMatchObject([{ kind: 'warning' }]);
    fake = await openFakeHub(served);
  });

  it('says what is wrong with a name, a wish and an empty cache', async () => {
    const unknown = fetchDataset(hub(), { ...repo, name: 'owner/none' }, { choose });
    await expect(unknown).rejects.toThrow(ConfigError);
    await expect(unknown).rejects.toThrow(/taskSet.from: there is no data set owner\/none/);
    const nothing = fetchDataset(hub(), repo, { choose: () => [] });
    await expect(nothing).rejects.toThrow(DataError);
    await expect(nothing).rejects.toThrow(/has no file that is wanted. It has README.md/);
    const offline = fetchDataset(hub({ isOffline: true }), repo, { choose });
    await expect(offline).rejects.toThrow(/has no data set owner\/charts@main/);
  });

  it('never writes outside of the snapshot, whatever a hub lists', async () => {
    await fake.close();
    fake = await openFakeHub({ ...served, files: new Map([['../../evil', bytes('x')], ...files]) });
    await fetchDataset(hub(), repo, { choose: (paths) => paths });
    expect(existsSync(join(cacheDirectory, 'datasets--owner--charts', 'evil'))).toBe(false);
  });
});

describe('parseSource', () => {
  it.each([
    ['data/mine', { kind: 'path', path: 'data/mine' }],
    ['hf:datasets/owner/name', { kind: 'hub', name: 'owner/name', revision: 'main' }],
    ['hf:owner/name@v1', { kind: 'hub', name: 'owner/name', revision: 'v1' }],
    [
      'hf:datasets/owner/name@refs/convert/parquet',
      { kind: 'hub', name: 'owner/name', revision: 'refs/convert/parquet' },
    ],
  ])('reads %s', (from, source) => {
    expect(parseSource(from, 'taskSet.from')).toEqual(source);
  });

  it.each(['hf:datasets/', 'hf:datasets/a/b/c', 'hf:a/b@'])('refuses %s', (from) => {
    expect(() => parseSource(from, 'taskSet.from')).toThrow(/expected hf:datasets\/owner\/name/);
  });
});
