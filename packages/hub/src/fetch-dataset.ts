/** The files of a data set of a hub: from the cache, or downloaded into it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, MissingError, messageOf } from '@saccade/core';
import type { Hub, HubRepo } from './hub.ts';
import { HubCache } from './hub-cache.ts';
import { openRemote } from './remote.ts';

const CARD = 'README.md';

/** The files of a data set that are wanted. */
export interface DatasetWish {
  /**
   * Of the paths of all files, those that are downloaded; the card is, whatever this says.
   *
   * @throws DataError if none of them will do
   */
  choose(paths: readonly string[]): readonly string[];
}

/**
 * The directory with the wanted files of a data set and its card. Files that the cache has are not
 * downloaded again.
 *
 * @throws MissingError if the hub cannot be reached, or offline, if the cache does not have them
 * @throws ConfigError  if there is no such data set or revision, or it is gated
 * @throws DataError    if no file is wanted, one is damaged, or there is no room
 */
export async function fetchDataset(
  hub: Hub,
  { name, revision }: Pick<HubRepo, 'name' | 'revision'>,
  wish: DatasetWish,
): Promise<string> {
  const repo: HubRepo = { name, revision, type: 'dataset' };
  const cache = new HubCache(hub.cacheDirectory, repo);
  if (hub.isOffline) return await cachedDataset(hub, cache, repo);
  try {
    return await downloadDataset(hub, cache, repo, wish);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    const commit = await cache.commitOf(revision);
    if (commit === undefined || !existsSync(cache.snapshot(commit))) throw error;
    const message = `${messageOf(error)} Going on with the copy in the cache, ${commit}.`;
    hub.onEvent?.({ kind: 'warning', message });
    return cache.snapshot(commit);
  }
}

async function cachedDataset(
  { cacheDirectory }: Hub,
  cache: HubCache,
  { name, revision }: HubRepo,
): Promise<string> {
  const commit = await cache.commitOf(revision);
  const directory = commit === undefined ? undefined : cache.snapshot(commit);
  if (directory !== undefined && existsSync(directory)) return directory;
  throw new MissingError(
    `The cache in ${cacheDirectory} has no data set ${name}@${revision}, and the hub is not asked ` +
      '(HF_HUB_OFFLINE=1). Download it once with a connection, or set HF_HOME to a cache that has it.',
  );
}

async function downloadDataset(
  hub: Hub,
  cache: HubCache,
  repo: HubRepo,
  { choose }: DatasetWish,
): Promise<string> {
  const remote = await openRemote(hub, cache, repo);
  const files = [...(await remote.list({ isRecursive: true })).values()];
  const chosen = new Set(choose(files.map(({ path }) => path).filter(isInside)));
  const wanted = files.filter(({ path }) => path !== CARD && chosen.has(path));
  if (wanted.length === 0) {
    const some = files.slice(0, 5).map(({ path }) => path);
    throw new DataError(
      `${repo.name}@${repo.revision} has no file that is wanted. It has ${some.join(', ') || 'none'}` +
        `${files.length > some.length ? ', …' : ''}. Name some of them in taskSet.trainFiles.`,
    );
  }
  await remote.download(files.filter(({ path }) => path === CARD));
  await remote.download(wanted);
  await cache.setCommit(repo.revision, remote.commit);
  return cache.snapshot(remote.commit);
}

/** False of a path that leaves the snapshot: a hub may be anyone's. */
function isInside(path: string): boolean {
  const root = join('/', 'snapshot');
  return join(root, path).startsWith(`${root}/`) && !path.startsWith('/');
}
