/** The weights of a directory in Hugging Face's layout: one safetensors file, or shards with an index. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import { SafetensorsFile, unreadable } from './safetensors-file.ts';
import type { TensorEntry } from './safetensors-header.ts';
import { WEIGHTS } from './weight-layout.ts';

/** The file that names the shard of every tensor. */
export const INDEX = 'model.safetensors.index.json';

/** A tensor in an open file. */
export interface StoredTensor extends TensorEntry {
  readonly file: SafetensorsFile;
}

/** The open files of a checkpoint. Close it after use. */
export class Checkpoint {
  readonly directory: string;
  /** Names of its files in the directory, in order, with the tensors of each by name. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, StoredTensor>>;
  readonly #tensors: ReadonlyMap<string, StoredTensor>;
  readonly #opened: readonly SafetensorsFile[];

  private constructor(
    directory: string,
    files: ReadonlyMap<string, ReadonlyMap<string, StoredTensor>>,
    opened: readonly SafetensorsFile[],
  ) {
    this.directory = directory;
    this.files = files;
    this.#opened = opened;
    this.#tensors = new Map([...files.values()].flatMap((tensors) => [...tensors]));
  }

  /**
   * Opens `model.safetensors`, or the shards that `model.safetensors.index.json` names. Every
   * header is checked here, so that nothing is found to be missing halfway through the weights.
   *
   * @throws DataError  naming the file that is missing, damaged or truncated
   */
  static async open(directory: string): Promise<Checkpoint> {
    // The order in which transformers looks for them.
    const shardOf = existsSync(join(directory, WEIGHTS)) ? undefined : await readIndex(directory);
    const files = new Map<string, Map<string, StoredTensor>>();
    const opened: SafetensorsFile[] = [];
    try {
      for (const name of new Set(shardOf?.values() ?? [WEIGHTS])) {
        const file = await openShard(directory, name, shardOf?.size ?? 0);
        opened.push(file);
        const tensors = [...file.tensors].filter(
          ([tensor]) => (shardOf?.get(tensor) ?? name) === name,
        );
        files.set(name, new Map(tensors.map(([tensor, entry]) => [tensor, { ...entry, file }])));
      }
      for (const [tensor, shard] of shardOf ?? []) {
        if (files.get(shard)?.has(tensor)) continue;
        throw new DataError(
          `${INDEX} in ${directory} places "${tensor}" in ${shard}, which does not have it. ` +
            'Get the index and the shards from the same place.',
        );
      }
      return new Checkpoint(directory, files, opened);
    } catch (error) {
      for (const file of opened) await file.close();
      throw error;
    }
  }

  /** The tensor that is stored under the first of these names that there is. */
  find(names: readonly string[]): StoredTensor | undefined {
    for (const name of names) {
      const found = this.#tensors.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async close(): Promise<void> {
    for (const file of this.#opened) await file.close();
  }
}

async function openShard(
  directory: string,
  name: string,
  indexed: number,
): Promise<SafetensorsFile> {
  const path = join(directory, name);
  if (existsSync(path)) return await SafetensorsFile.open(path);
  throw new DataError(
    indexed > 0
      ? `${INDEX} in ${directory} names ${JSON.stringify(name)}, which is not there. ` +
          'Download the shards that are missing.'
      : `There are no weights in ${directory}: neither ${WEIGHTS} nor ${INDEX}. ` +
          'Give a directory with a checkpoint in safetensors.',
  );
}

/** Shard of every tensor, or undefined where there is no index. */
async function readIndex(directory: string): Promise<Map<string, string> | undefined> {
  const path = join(directory, INDEX);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
  const broken = (why: string, cause?: unknown) =>
    new DataError(`${path} is not a valid index: ${why}. Write or download it again.`, { cause });
  let index: { readonly weight_map?: unknown } | null;
  try {
    index = JSON.parse(text);
  } catch (error) {
    throw broken(messageOf(error), error);
  }
  const shards = index?.weight_map;
  if (typeof shards !== 'object' || shards === null) throw broken('it has no weight_map');
  const shardOf = new Map<string, string>();
  for (const [name, shard] of Object.entries(shards)) {
    if (typeof shard !== 'string' || basename(shard) !== shard || shard === '..') {
      throw broken(`the shard of "${name}" is ${JSON.stringify(shard)}, no file beside it`);
    }
    shardOf.set(name, shard);
  }
  if (shardOf.size === 0) throw broken('its weight_map is empty');
  return shardOf;
}
