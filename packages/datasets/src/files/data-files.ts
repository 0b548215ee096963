/** The files of a data set: those of a folder, their splits, and whether all shards are there. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DataError, MissingError } from '@saccade/core';
import { matchesAny } from './glob.ts';

/** One file of a data set. */
export interface DataFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the root, with `/`. */
  readonly name: string;
}

/** Words by which files and folders name a split, in the order in which they are looked for. */
const SPLIT_WORDS = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'val', 'dev', 'testmini'],
  test: ['test', 'testing', 'eval', 'evaluation'],
} as const;

/** A split as files name it. */
export type FileSplit = keyof typeof SPLIT_WORDS;

/** The split that a file's name or one of its folders says, the nearest first. */
export function splitOf(name: string): FileSplit | undefined {
  const parts = name.toLowerCase().split('/').reverse();
  for (const part of parts) {
    const words = part.split(/[^a-z0-9]+/);
    for (const [split, known] of Object.entries(SPLIT_WORDS)) {
      if (known.some((word) => words.includes(word))) return split as FileSplit;
    }
  }
  return undefined;
}

/** The root of a path: itself if it is a folder, else the folder it is in. */
export async function rootOf(path: string): Promise<string> {
  const full = resolve(path);
  if (!existsSync(full)) {
    const remedy = /^[\w.-]+\/[\w.-]+$/.test(path)
      ? `For a data set of a hub write hf:datasets/${path}.`
      : 'Give a file, a folder, or hf:datasets/owner/name.';
    throw new MissingError(`There is no ${full}. ${remedy}`);
  }
  return (await stat(full)).isDirectory() ? full : dirname(full);
}

/** Every file of a folder, sorted by name; hidden ones are left out. */
export async function listFiles(root: string): Promise<readonly DataFile[]> {
  const names: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) await visit(name);
      else names.push(name);
    }
  };
  await visit('');
  return names.sort(byCodeUnits).map((name) => ({ path: join(root, name), name }));
}

/** As Python sorts names: by code points, not by the language of the reader. */
const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The files whose names match one of the patterns; all of them if there are no patterns. */
export function selectFiles(
  files: readonly DataFile[],
  patterns: readonly string[],
): readonly DataFile[] {
  if (patterns.length === 0) return files;
  return files.filter(({ name }) => matchesAny(patterns, name));
}

/** `train-00001-of-00003`, with whatever stands before and after. */
const SHARD = /^(.*?)(\d{5})-of-(\d{5})(.*)$/;

/** @throws DataError naming the shard that is missing */
export function checkShards(files: readonly DataFile[]): void {
  const sets = new Map<string, { readonly total: number; readonly seen: Set<number> }>();
  for (const { name } of files) {
    const [, before, number, total] = SHARD.exec(basename(name)) ?? [];
    if (before === undefined || number === undefined || total === undefined) continue;
    const key = `${dirname(name)}/${before} ${total}`;
    const set = sets.get(key) ?? { total: Number(total), seen: new Set<number>() };
    sets.set(key, set);
    set.seen.add(Number(number));
  }
  for (const [key, { total, seen }] of sets) {
    // A mirror of some shards numbers them from 0, and says so with what it leaves out.
    const missing = Array.from({ length: total }, (_, i) => i).find((i) => !seen.has(i));
    if (missing === undefined) continue;
    const shard = String(missing).padStart(5, '0');
    throw new DataError(
      `The shard ${shard} of ${total} of ${key.split(' ')[0]}* is missing: ${seen.size} are there. ` +
        'Download the others, or name the files to take in the setting files.',
    );
  }
}
