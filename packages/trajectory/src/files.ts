/** Trajectories on disk: one JSON line each, images beside them as PNG files named by content. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { DataError, StateError } from '@saccade/core';
import {
  formatTrajectoryLine,
  parseTrajectoryLine,
  type StoredTrajectory,
  type Tags,
  type TrajectoryLine,
  withImages,
} from './json.ts';
import type { ScoredTrajectory, Trajectory, TrajectoryImage } from './trajectory.ts';

/** Images are kept in this directory beside the file. */
const imageDirectory = 'images';

/**
 * A file of trajectories that is being written. Images go beside it, each once, named by their
 * content.
 */
export interface TrajectoryWriter {
  readonly path: string;
  /** Size of the file so far: what `startAt` wants to hear after a resume. */
  readonly sizeBytes: number;
  /** Appends one line; its new images are on disk before the line is. Calls may overlap. */
  write(trajectory: Trajectory | ScoredTrajectory, tags?: Tags): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a file to append trajectories to. Directories are made as needed.
 *
 * @param options.startAt cuts the file to this size first: what a resumed run has not yet done
 */
export async function openTrajectoryWriter(
  path: string,
  options: { startAt?: number } = {},
): Promise<TrajectoryWriter> {
  const images = join(dirname(path), imageDirectory);
  await mkdir(images, { recursive: true });
  const file = await open(path, 'a');
  const { size } = await file.stat();
  const startAt = options.startAt ?? size;
  if (startAt > size) {
    await file.close();
    throw new DataError(
      `${path} has ${size} bytes, fewer than the ${startAt} it should have. ` +
        'It was changed after the checkpoint; resume from an earlier one.',
    );
  }
  await file.truncate(startAt);
  return new FileWriter(path, images, file, startAt);
}

/** Appends one trajectory to a file. For more than a few, keep a writer open. */
export async function writeTrajectory(
  path: string,
  trajectory: Trajectory | ScoredTrajectory,
  tags?: Tags,
): Promise<void> {
  const writer = await openTrajectoryWriter(path);
  try {
    await writer.write(trajectory, tags);
  } finally {
    await writer.close();
  }
}

/**
 * Reads a file of trajectories one after another, images included.
 *
 * @throws DataError naming file and line if a line or one of its images cannot be read
 */
export async function* readTrajectories(path: string): AsyncGenerator<StoredTrajectory> {
  let number = 0;
  for await (const line of readTrajectoryLines(path)) {
    number++;
    yield await withImages(line, (file) => readImage(path, number, file));
  }
}

/** Reads a file of trajectories without loading images: their `png` is empty. */
export async function* readTrajectoryLines(path: string): AsyncGenerator<TrajectoryLine> {
  const lines = createInterface({
    input: createReadStream(path, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let number = 0;
  for await (const line of lines) {
    number++;
    yield parseTrajectoryLine(line, `${path}:${number}`);
  }
}

async function readImage(path: string, line: number, file: string): Promise<Uint8Array> {
  if (file.split('/').includes('..') || file.startsWith('/')) {
    throw new DataError(`${path}:${line}: image ${file} lies outside of the file's directory.`);
  }
  try {
    return new Uint8Array(await readFile(join(dirname(path), file)));
  } catch (error) {
    throw new DataError(
      `${path}:${line}: image ${file} cannot be read. Copy ${imageDirectory}/ with the file.`,
      { cause: error },
    );
  }
}

class FileWriter implements TrajectoryWriter {
  readonly path: string;
  readonly #images: string;
  readonly #file: FileHandle;
  readonly #written = new Set<string>();
  readonly #names = new WeakMap<Uint8Array, string>();
  #sizeBytes: number;
  #queue: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(path: string, images: string, file: FileHandle, sizeBytes: number) {
    this.path = path;
    this.#images = images;
    this.#file = file;
    this.#sizeBytes = sizeBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  write(trajectory: Trajectory | ScoredTrajectory, tags: Tags = {}): Promise<void> {
    if (this.#isClosed) throw new StateError(`${basename(this.path)} is closed; open it again.`);
    const written = this.#queue.then(() => this.#append(trajectory, tags));
    // One line that fails must not fail those queued behind it.
    this.#queue = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue;
    await this.#file.close();
  }

  async #append(trajectory: Trajectory, tags: Tags): Promise<void> {
    const line = formatTrajectoryLine(trajectory, (image) => this.#nameOf(image.png), tags);
    for (const segment of trajectory.segments) {
      for (const image of segment.images) await this.#keep(image);
    }
    const bytes = Buffer.from(`${line}\n`);
    await this.#file.appendFile(bytes);
    this.#sizeBytes += bytes.length;
  }

  /** Path of an image relative to the file: a group's prompt image is kept once. */
  #nameOf(png: Uint8Array): string {
    let name = this.#names.get(png);
    if (name === undefined) {
      const digest = createHash('sha256').update(png).digest('hex').slice(0, 24);
      name = `${imageDirectory}/${digest}.png`;
      this.#names.set(png, name);
    }
    return name;
  }

  async #keep(image: TrajectoryImage): Promise<void> {
    const name = this.#nameOf(image.png);
    if (this.#written.has(name)) return;
    const target = join(this.#images, basename(name));
    const isThere = await stat(target).then(
      (found) => found.size === image.png.length,
      () => false,
    );
    if (!isThere) {
      // Written aside and renamed, so that an image is whole or absent even if the run is killed.
      await writeFile(`${target}.part`, image.png);
      await rename(`${target}.part`, target);
    }
    this.#written.add(name);
  }
}
