/** The files of a model of a hub: from the cache, or downloaded into it. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ReadableStream } from 'node:stream/web';
import { DataError, MissingError, messageOf } from '@saccade/core';
import { diskFull, downloadBlob, formatSize, type HubFile } from './download-blob.ts';
import { type Hub, type HubModel, hubError } from './hub.ts';
import { HubCache } from './hub-cache.ts';

const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';
/** Configuration, tokenizer, processor and chat template. */
const DESCRIPTION = /\.(json|jinja|txt|model)$/;

/** What of a model is fetched. */
export interface FetchOptions {
  /** Gets the directory when all but the weights is there; what it throws ends the download. */
  readonly check?: (directory: string) => Promise<unknown>;
  /** Whether weights are fetched, too. Default true. */
  readonly weights?: boolean;
}

/**
 * The directory with the files of a model that are needed to run it: configuration, tokenizer,
 * processor, and the weights as safetensors. Files that the cache has are not downloaded again.
 *
 * @throws MissingError if the hub cannot be reached, or offline, if the cache does not have them
 * @throws ConfigError  if there is no such model or revision, or it is gated
 * @throws DataError    if a file is damaged, there are no weights, or no room for them
 */
export async function fetchModel(
  hub: Hub,
  model: HubModel,
  options: FetchOptions = {},
): Promise<string> {
  const cache = new HubCache(hub.cacheDirectory, model.name);
  if (hub.isOffline) return await cachedModel(hub, cache, model, options);
  try {
    return await downloadModel(hub, cache, model, options);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    const commit = await cache.commitOf(model.revision);
    if (commit === undefined) throw error;
    if ((await missingFile(cache.snapshot(commit), options)) !== undefined) throw error;
    const message = `${messageOf(error)} Going on with the copy in the cache, ${commit}.`;
    hub.onEvent?.({ kind: 'warning', message });
    return cache.snapshot(commit);
  }
}

/** @throws MissingError naming what the cache lacks */
async function cachedModel(
  hub: Hub,
  cache: HubCache,
  { name, revision }: HubModel,
  options: FetchOptions,
): Promise<string> {
  const commit = await cache.commitOf(revision);
  const directory = commit === undefined ? undefined : cache.snapshot(commit);
  const missing = directory === undefined ? name : await missingFile(directory, options);
  if (directory !== undefined && missing === undefined) return directory;
  throw new MissingError(
    `The cache in ${hub.cacheDirectory} has no ${missing} of ${name}@${revision}, and the hub is ` +
      'not asked (HF_HUB_OFFLINE=1, or model.localFilesOnly). Download it once with a connection, ' +
      'or set HF_HOME to a cache that has it.',
  );
}

/** The first file that a model cannot be loaded without and a directory does not have. */
async function missingFile(
  directory: string,
  { weights = true }: FetchOptions,
): Promise<string | undefined> {
  const has = (file: string) => existsSync(join(directory, file));
  if (!has('config.json')) return 'config.json';
  if (has(WEIGHTS) || !weights) return undefined;
  if (!has(INDEX)) return WEIGHTS;
  return (await shardsIn(directory)).find((shard) => !has(shard));
}

async function downloadModel(
  hub: Hub,
  cache: HubCache,
  model: HubModel,
  { check, weights: areWeightsWanted = true }: FetchOptions,
): Promise<string> {
  // Imported only here: a run of a local model needs none of it.
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
      throw hubError(error, hub, model, errorCode);
    }
  };
  const { name, revision } = model;
  const commit = await asking(async () => {
    const fields = { name, revision, additionalFields: ['sha'] as ['sha'] };
    return (await api.modelInfo({ ...parameters, ...fields })).sha;
  });
  const files = await asking(async () => {
    const listed: HubFile[] = [];
    for await (const entry of api.listFiles({ ...parameters, repo: name, revision: commit })) {
      if (entry.type === 'file' && !entry.path.includes('/')) listed.push(hubFile(entry));
    }
    return new Map(listed.map((file) => [file.path, file]));
  });
  const download = async (wanted: readonly HubFile[]): Promise<void> => {
    await expectRoom(cache, wanted);
    for (const file of wanted) {
      const report = progressOf(hub, file);
      const open = async (start: number) => {
        const at = { repo: name, revision: commit, path: file.path };
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
  };
  expectModel(model, files);
  await download([...files.values()].filter(({ path }) => DESCRIPTION.test(path)));
  const directory = cache.snapshot(commit);
  await check?.(directory);
  if (!areWeightsWanted) return directory;
  const weights = files.has(WEIGHTS) ? [WEIGHTS] : await shardsIn(directory);
  await download(weights.map((path) => listedFile(model, files, path)));
  await cache.setCommit(revision, commit);
  return directory;
}

/** @throws DataError for a repository of something else */
function expectModel({ name }: HubModel, files: ReadonlyMap<string, HubFile>): void {
  if (!files.has('config.json')) {
    throw new DataError(
      `${name} has no config.json, so it is no model of transformers. Give one that has.`,
    );
  }
  if (files.has(WEIGHTS) || files.has(INDEX)) return;
  const others = [...files.keys()].filter((path) => /\.(bin|gguf|pt|pth|onnx|h5)$/.test(path));
  const has = others.length === 0 ? '' : ` It has ${others.slice(0, 3).join(', ')}.`;
  throw new DataError(
    `${name} has no weights as safetensors: neither ${WEIGHTS} nor ${INDEX}.${has} Give a ` +
      'revision or a model that has them.',
  );
}

function listedFile(
  { name }: HubModel,
  files: ReadonlyMap<string, HubFile>,
  path: string,
): HubFile {
  const file = files.get(path);
  if (file !== undefined) return file;
  throw new DataError(
    `${INDEX} of ${name} names ${JSON.stringify(path)}, which the repository does not have. ` +
      'Give a revision that is whole.',
  );
}

/** The shards that an index names. */
async function shardsIn(directory: string): Promise<readonly string[]> {
  const path = join(directory, INDEX);
  try {
    const index: { readonly weight_map?: Readonly<Record<string, string>> } = JSON.parse(
      await readFile(path, 'utf8'),
    );
    return [...new Set(Object.values(index.weight_map ?? {}))];
  } catch (error) {
    throw new DataError(`${path} is not a valid index: ${messageOf(error)}.`, { cause: error });
  }
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
