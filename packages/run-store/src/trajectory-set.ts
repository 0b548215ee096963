/** Files of trajectories: one sealed row each, with their images beside them, named by content. */
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '@saccade/core';
import {
  formatTrajectoryLine,
  parseTrajectoryLine,
  type ScoredTrajectory,
  type StoredTrajectory,
  type Tags,
  type Trajectory,
  type TrajectoryLine,
  withImages,
} from '@saccade/trajectory';
import { flush, makeDirectories, writeAndFlush, writeDurably } from './durable-files.ts';
import { type FileSystem, type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { type ManifestEntry, readManifest, updateManifest } from './manifest.ts';
import { FIRST_LINK, readRows, sealRow } from './rows.ts';
import { sha256 } from './sealed-json.ts';
import {
  type Damage,
  damageOf,
  oneLine,
  type Read,
  StoreError,
  storeError,
} from './store-error.ts';

const FOLDER = 'trajectories';
const IMAGES = 'images';
/** Hexadecimal digits of an image's SHA-256 in its name. */
const DIGITS = 24;

/** A trajectory to be written, with facts about its task for readers. */
export interface WrittenTrajectory {
  readonly trajectory: Trajectory | ScoredTrajectory;
  readonly tags?: Tags;
}

/** The folder of a run's trajectory files: `<run>/trajectories`. */
export function trajectoriesOf(directory: string): string {
  return join(directory, FOLDER);
}

/**
 * Writes a file of trajectories with their images. All of it is on the disk when this returns. A
 * file of this name is replaced atomically.
 *
 * @param name without `.jsonl`
 * @throws StoreError if it cannot be written; the file that was there is untouched
 */
export function writeTrajectorySet(
  directory: string,
  name: string,
  trajectories: readonly WrittenTrajectory[],
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  const path = join(trajectoriesOf(directory), `${name}.jsonl`);
  const { text, images } = formatSet(trajectories);
  writeImages(fileSystem, dirname(path), images);
  const entry: ManifestEntry = { sizeBytes: Buffer.byteLength(text), sha256: sha256(text) };
  const known = readManifest(fileSystem, directory).value?.trajectories[name];
  if (known !== undefined && known.sha256 !== entry.sha256) {
    // While neither the old file nor the new is listed, a crash leaves one that is checked by rows.
    updateManifest(
      fileSystem,
      directory,
      ({ trajectories: { [name]: _, ...rest }, ...before }) => ({
        ...before,
        trajectories: rest,
      }),
    );
  }
  writeDurably(fileSystem, path, text);
  updateManifest(fileSystem, directory, (before) => ({
    ...before,
    trajectories: { ...before.trajectories, [name]: entry },
  }));
}

/**
 * Writes one into a directory that is not in place yet, as part of a checkpoint, whose manifest seals
 * it.
 */
export function writeLooseSet(
  path: string,
  trajectories: readonly WrittenTrajectory[],
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  const { text, images } = formatSet(trajectories);
  makeDirectories(fileSystem, dirname(path));
  writeImages(fileSystem, dirname(path), images);
  try {
    writeAndFlush(fileSystem, path, text);
  } catch (error) {
    throw storeError(path, error);
  }
}

function formatSet(trajectories: readonly WrittenTrajectory[]): {
  readonly text: string;
  readonly images: ReadonlyMap<string, Uint8Array>;
} {
  const images = new Map<string, Uint8Array>();
  const names = new Map<Uint8Array, string>();
  const nameOf = (png: Uint8Array): string => {
    const known = names.get(png);
    if (known !== undefined) return known;
    const name = `${IMAGES}/${digestOf(png)}.png`;
    names.set(png, name);
    images.set(name, png);
    return name;
  };
  let previous = FIRST_LINK;
  const lines = trajectories.map(({ trajectory, tags }) => {
    const json = formatTrajectoryLine(trajectory, ({ png }) => nameOf(png), tags);
    const { line, own } = sealRow(json, previous);
    previous = own;
    return `${line}\n`;
  });
  return { text: lines.join(''), images };
}

function digestOf(png: Uint8Array): string {
  return createHash('sha256').update(png).digest('hex').slice(0, DIGITS);
}

/** Images that are there whole stay; a damaged one is written again. */
function writeImages(
  fileSystem: FileSystem,
  folder: string,
  images: ReadonlyMap<string, Uint8Array>,
): void {
  const target = join(folder, IMAGES);
  makeDirectories(fileSystem, target);
  let isChanged = false;
  for (const [name, png] of images) {
    const path = join(folder, name);
    try {
      if (isWhole(fileSystem, path, png)) continue;
      writeAndFlush(fileSystem, `${path}.tmp`, png);
      fileSystem.rename(`${path}.tmp`, path);
      isChanged = true;
    } catch (error) {
      throw storeError(path, error);
    }
  }
  try {
    if (isChanged) flush(fileSystem, target);
  } catch (error) {
    throw storeError(target, error);
  }
}

function isWhole(fileSystem: FileSystem, path: string, png: Uint8Array): boolean {
  if (fileSystem.status(path)?.sizeBytes !== png.length) return false;
  return Buffer.compare(fileSystem.readFile(path), png) === 0;
}

/**
 * Names of a run's files of trajectories, without `.jsonl`, sorted. One that the manifest lists and
 * that is not there is damage.
 */
export function listTrajectorySets(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<readonly string[]> {
  const folder = trajectoriesOf(directory);
  const manifest = readManifest(fileSystem, directory);
  const damage = [...manifest.damage];
  let names: readonly string[] = [];
  try {
    if (fileSystem.status(folder) !== undefined) {
      names = fileSystem
        .readDirectory(folder)
        .filter((file) => file.endsWith('.jsonl'))
        .map((file) => file.slice(0, -'.jsonl'.length))
        .sort();
    }
  } catch (error) {
    damage.push(damageOf(folder, error));
  }
  for (const name of Object.keys(manifest.value?.trajectories ?? {})) {
    if (names.includes(name)) continue;
    const path = join(folder, `${name}.jsonl`);
    damage.push({ path, problem: 'it is missing', remedy: 'Restore it from a copy.' });
  }
  return { value: names, damage };
}

/** One trajectory of a file, without its images: their `png` is empty. */
export interface KeptTrajectory extends TrajectoryLine {
  /** Line of the file, counted from 1. */
  readonly line: number;
  /** Loads the images. One that is missing or damaged stays empty, and is named. */
  load(): Promise<Read<StoredTrajectory['trajectory']>>;
}

/** Reads a file of a run; rows that are damaged are left out and named. */
export function readTrajectorySet(
  directory: string,
  name: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<readonly KeptTrajectory[]> {
  const path = join(trajectoriesOf(directory), `${name}.jsonl`);
  const entry = readManifest(fileSystem, directory).value?.trajectories[name];
  const read = readLooseSet(path, { fileSystem });
  if (entry === undefined || read.damage.length > 0) return read;
  try {
    const bytes = fileSystem.readFile(path);
    if (sha256(bytes) === entry.sha256) return read;
    const problem =
      bytes.length < entry.sizeBytes
        ? `it has ${bytes.length} bytes, it was written with ${entry.sizeBytes}`
        : 'it does not have the SHA-256 of the manifest';
    const remedy = 'Restore the file from a copy, or take what is left as it is.';
    return { value: read.value, damage: [{ path, problem, remedy }] };
  } catch (error) {
    return { value: [], damage: [damageOf(path, error)] };
  }
}

/** The same for a file that no manifest of a run lists. */
export function readLooseSet(
  path: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<readonly KeptTrajectory[]> {
  let bytes: Buffer;
  try {
    bytes = fileSystem.readFile(path);
  } catch (error) {
    return { value: [], damage: [damageOf(path, error)] };
  }
  const { value, damage } = readRows(path, bytes);
  const found: Damage[] = [...damage];
  const kept = value.rows.flatMap(({ json, line }): readonly KeptTrajectory[] => {
    try {
      const parsed = parseTrajectoryLine(json, `row ${line}`);
      return [{ ...parsed, line, load: () => load(fileSystem, path, parsed) }];
    } catch (error) {
      const problem = oneLine(messageOf(error)).replace(/\.? Remove the line.*$/, '');
      found.push({ path, problem, remedy: 'The row was left out; restore the file from a copy.' });
      return [];
    }
  });
  return { value: kept, damage: found };
}

async function load(
  fileSystem: FileSystem,
  path: string,
  line: TrajectoryLine,
): Promise<Read<StoredTrajectory['trajectory']>> {
  const damage = new Map<string, Damage>();
  const { trajectory } = await withImages(line, async (file) => {
    try {
      return readImage(fileSystem, path, file);
    } catch (error) {
      damage.set(file, damageOf(join(dirname(path), file), error));
      return new Uint8Array(0);
    }
  });
  return { value: trajectory, damage: [...damage.values()] };
}

/** @throws StoreError if an image is missing, lies elsewhere, or is not what its name says */
function readImage(fileSystem: FileSystem, path: string, file: string): Uint8Array {
  const full = join(dirname(path), file);
  const remedy = `Copy ${IMAGES}/ with ${basename(path)}, or restore it from a copy.`;
  if (file.split('/').includes('..') || file.startsWith('/') || file.includes('\0')) {
    const problem = `its row names an image outside of the directory: ${file}`;
    throw new StoreError({ path, problem, remedy });
  }
  let bytes: Buffer;
  try {
    bytes = fileSystem.readFile(full);
  } catch (error) {
    throw new StoreError({ path: full, problem: damageOf(full, error).problem, remedy });
  }
  const digest = /([0-9a-f]{24})\.png$/.exec(file)?.[1];
  if (digest !== undefined && digest !== digestOf(bytes)) {
    const problem = 'its content does not match its name, so it was changed after it was written';
    throw new StoreError({ path: full, problem, remedy });
  }
  return new Uint8Array(bytes);
}
