/** Files of trajectories: one sealed row each, with their images beside them, named by content. */
import { dirname, join } from 'node:path';
import { messageOf } from '@saccade/core';
import {
  formatTrajectoryLine,
  parseTrajectoryLine,
  type ScoredTrajectory,
  type StoredTrajectory,
  type Tags,
  type Trajectory,
  type TrajectoryLine,
} from '@saccade/trajectory';
import { makeDirectories, writeAndFlush, writeDurably } from './durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from './file-system.ts';
import { ImageNames, loadImages, writeImages } from './image-files.ts';
import { type ManifestEntry, readManifest, updateManifest } from './manifest.ts';
import { FIRST_LINK, readRows, sealRow } from './rows.ts';
import { sha256 } from './sealed-json.ts';
import { type Damage, damageOf, oneLine, type Read, storeError } from './store-error.ts';

const FOLDER = 'trajectories';

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
  const images = new ImageNames();
  let previous = FIRST_LINK;
  const lines = trajectories.map(({ trajectory, tags }) => {
    const json = formatTrajectoryLine(trajectory, ({ png }) => images.nameOf(png), tags);
    const { line, own } = sealRow(json, previous);
    previous = own;
    return `${line}\n`;
  });
  return { text: lines.join(''), images: images.files };
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
      return [{ ...parsed, line, load: () => loadImages(fileSystem, path, parsed) }];
    } catch (error) {
      const problem = oneLine(messageOf(error)).replace(/\.? Remove the line.*$/, '');
      found.push({ path, problem, remedy: 'The row was left out; restore the file from a copy.' });
      return [];
    }
  });
  return { value: kept, damage: found };
}
