/** Shards of an export: `train-00000-of-00003.parquet`, whose number is known at the end. */
import { mkdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WrittenFiles } from '../writer.ts';

const number = (value: number): string => String(value).padStart(5, '0');

/** The names of the shards of one split. */
export class Shards {
  readonly #directory: string;
  readonly #base: string;
  readonly #extension: string;
  readonly #parts: string[] = [];

  /** @param base  folder and split: `data/train` */
  constructor(directory: string, base: string, extension: string) {
    this.#directory = directory;
    this.#base = base;
    this.#extension = extension;
  }

  /** The path to write the next shard to. */
  async next(): Promise<string> {
    const path = join(this.#directory, `${this.#base}-${number(this.#parts.length)}.partial`);
    await mkdir(dirname(path), { recursive: true });
    this.#parts.push(path);
    return path;
  }

  /** Gives the shards that were written their names. */
  async finish(rowCount: number): Promise<WrittenFiles> {
    const files: string[] = [];
    let sizeBytes = 0;
    for (const [i, part] of this.#parts.entries()) {
      const shard = `${number(i)}-of-${number(this.#parts.length)}`;
      const name = `${this.#base}-${shard}.${this.#extension}`;
      await rename(part, join(this.#directory, name));
      sizeBytes += (await stat(join(this.#directory, name))).size;
      files.push(name);
    }
    return { files, rowCount, sizeBytes, pattern: `${this.#base}-*` };
  }
}
