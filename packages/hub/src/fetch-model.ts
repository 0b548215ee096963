/** The files of a model of a hub: from the cache, or downloaded into it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataError, MissingError, messageOf } from '@saccade/core';
import type { HubFile } from './download-blob.ts';
import type { Hub, HubRepo } from './hub.ts';
import { HubCache } from './hub-cache.ts';
import { openRemote } from './remote.ts';

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
  model: HubRepo,
  options: FetchOptions = {},
): Promise<string> {
  const cache = new HubCache(hub.cacheDirectory, model);
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
  { name, revision }: HubRepo,
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
  model: HubRepo,
  { check, weights: areWeightsWanted = true }: FetchOptions,
): Promise<string> {
  const remote = await openRemote(hub, cache, model);
  const files = await remote.list({ isRecursive: false });
  expectModel(model, files);
  await remote.download([...files.values()].filter(({ path }) => DESCRIPTION.test(path)));
  const directory = cache.snapshot(remote.commit);
  await check?.(directory);
  if (!areWeightsWanted) return directory;
  const weights = files.has(WEIGHTS) ? [WEIGHTS] : await shardsIn(directory);
  await remote.download(weights.map((path) => listedFile(model, files, path)));
  await cache.setCommit(model.revision, remote.commit);
  return directory;
}

/** @throws DataError for a repository of something else */
function expectModel({ name }: HubRepo, files: ReadonlyMap<string, HubFile>): void {
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

function listedFile({ name }: HubRepo, files: ReadonlyMap<string, HubFile>, path: string): HubFile {
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
