/** A repository of a hub that answers: its commit, its files, and their download into the cache. */
import { existsSync } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ReadableStream } from 'node:stream/web';
import { DataError } from '@saccade/core';
import { diskFull, downloadBlob, formatSize, type HubFile } from './download-blob.ts';
import { type Hub, type HubRepo, hubError } from './hub.ts';
import type { HubCache } from './hub-cache.ts';

/** A repository at the commit that its revision has now. */
export interface RemoteRepo {
  readonly commit: string;
  /** The files by path; of the root alone unless `isRecursive`. */
  list(options: { readonly isRecursive: boolean }): Promise<ReadonlyMap<string, HubFile>>;
  /** Downloads what the cache does not have, and links it into the snapshot. */
  download(wanted: readonly HubFile[]): Promise<void>;
}

/**
 * Asks a hub for a repository.
 *
 * @throws MissingError if the hub cannot be reached
 * @throws ConfigError  if there is no such repository or revision, or it is gated
 */
export async function openRemote(hub: Hub, cache: HubCache, repo: HubRepo): Promise<RemoteRepo> {
  // Imported only here: a run of local files needs none of it.
  const api = await import('@huggingface/hub');
  let errorCode: string | undefined;
  const parameters = {
    hubUrl: hub.endpoint.replace(/\/+$/, ''),
    ...(hub.token !== undefined && { accessToken: hub.token }),
    fetch: (async (input, init) => {
      const response = await fetch(input, init);
      errorCode = response.headers.get('X-Error-Code') ?? undefined;
      return response;
    }) as typeof fetch,
  };
  const asking = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await call();
    } catch (error) {
      throw hubError(error, hub, repo, errorCode);
    }
  };
  const { name, revision, type = 'model' } = repo;
  const designation = { type, name } as const;
  const commit = await asking(async () => {
    const fields = { name, revision, additionalFields: ['sha'] as ['sha'] };
    const asked = { ...parameters, ...fields };
    if (type === 'model') return (await api.modelInfo(asked)).sha;
    return (await api.datasetInfo(asked)).sha;
  });
  return {
    commit,
    list: ({ isRecursive }) =>
      asking(async () => {
        const listed: HubFile[] = [];
        const at = { repo: designation, revision: commit, recursive: isRecursive };
        for await (const entry of api.listFiles({ ...parameters, ...at })) {
          const isWanted = isRecursive || !entry.path.includes('/');
          if (entry.type === 'file' && isWanted) listed.push(hubFile(entry));
        }
        return new Map(listed.map((file) => [file.path, file]));
      }),
    async download(wanted) {
      await expectRoom(cache, wanted);
      for (const file of wanted) {
        const report = progressOf(hub, file);
        const open = async (start: number) => {
          const at = { repo: designation, revision: commit, path: file.path };
          const blob = await api.downloadFile({ ...parameters, ...at });
          if (blob === null) throw new DataError(`${name} no longer has ${file.path}. Try again.`);
          const rest = start === 0 ? blob : blob.slice(start, file.sizeBytes);
          return rest.stream() as ReadableStream;
        };
        await asking(() =>
          downloadBlob(cache.blob(file.hash), file, open, report, hub.retryMilliseconds),
        );
        await cache.link(commit, file.path, file.hash);
      }
    },
  };
}

function hubFile(entry: {
  readonly path: string;
  readonly size: number;
  readonly oid?: string;
  readonly lfs?: { readonly oid: string; readonly size: number };
}): HubFile {
  const { path, size, oid = '', lfs } = entry;
  if (lfs === undefined) return { path, sizeBytes: size, hash: oid, hashKind: 'git' };
  return { path, sizeBytes: lfs.size, hash: lfs.oid, hashKind: 'sha256' };
}

/** @throws DataError if the disk has no room for what is not there yet */
async function expectRoom(cache: HubCache, files: readonly HubFile[]): Promise<void> {
  const absent = files.filter(({ hash }) => !existsSync(cache.blob(hash)));
  const [first] = absent;
  if (first === undefined) return;
  const folder = dirname(cache.blob(first.hash));
  await mkdir(folder, { recursive: true });
  const { bavail, bsize } = await statfs(folder);
  const sizeBytes = absent.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (sizeBytes <= bavail * bsize) return;
  const path = absent.length === 1 ? first.path : `${absent.length} files`;
  throw diskFull(cache.blob(first.hash), { path, sizeBytes });
}

/** Reports how much of a file is there. */
function progressOf({ onEvent }: Hub, { path, sizeBytes }: HubFile): (doneBytes: number) => void {
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6);
  return (doneBytes) =>
    onEvent?.({
      kind: 'progress',
      stage: 'download',
      done: megabytes(doneBytes),
      total: megabytes(sizeBytes),
      note: `MB of ${path} (${formatSize(sizeBytes)})`,
    });
}
