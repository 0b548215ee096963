/** Images beside rows of trajectories, named by their content. */
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { type StoredTrajectory, type TrajectoryLine, withImages } from '@saccade/trajectory';
import { flush, makeDirectories, writeAndFlush } from './durable-files.ts';
import type { FileSystem } from './file-system.ts';
import { type Damage, damageOf, type Read, StoreError, storeError } from './store-error.ts';

const IMAGES = 'images';
/** Hexadecimal digits of an image's SHA-256 in its name. */
const DIGITS = 24;

/** Gives images their file names, and remembers which have to be written. */
export class ImageNames {
  readonly files: Map<string, Uint8Array> = new Map();
  readonly #names = new Map<Uint8Array, string>();

  /** `images/<digits of its SHA-256>.png`. */
  nameOf(png: Uint8Array): string {
    const known = this.#names.get(png);
    if (known !== undefined) return known;
    const name = `${IMAGES}/${digestOf(png)}.png`;
    this.#names.set(png, name);
    this.files.set(name, png);
    return name;
  }
}

function digestOf(png: Uint8Array): string {
  return createHash('sha256').update(png).digest('hex').slice(0, DIGITS);
}

/**
 * Writes images below a folder. Those that are there whole stay; a damaged one is written again. All of
 * them are on the disk when this returns, also those that a process before this one has written.
 *
 * @param known names that are known to be on the disk: they are left alone, and the others are added
 * @throws StoreError naming the image that cannot be written
 */
export function writeImages(
  fileSystem: FileSystem,
  folder: string,
  images: ReadonlyMap<string, Uint8Array>,
  known: Set<string> = new Set(),
): void {
  const target = join(folder, IMAGES);
  const fresh = [...images].filter(([name]) => !known.has(name));
  makeDirectories(fileSystem, target);
  for (const [name, png] of fresh) {
    const path = join(folder, name);
    try {
      if (isWhole(fileSystem, path, png)) continue;
      writeAndFlush(fileSystem, `${path}.tmp`, png);
      fileSystem.rename(`${path}.tmp`, path);
    } catch (error) {
      throw storeError(path, error);
    }
  }
  try {
    // A process that was killed may have put one in place without flushing the directory.
    if (fresh.length > 0) flush(fileSystem, target);
  } catch (error) {
    throw storeError(target, error);
  }
  for (const [name] of fresh) known.add(name);
}

function isWhole(fileSystem: FileSystem, path: string, png: Uint8Array): boolean {
  if (fileSystem.status(path)?.sizeBytes !== png.length) return false;
  return Buffer.compare(fileSystem.readFile(path), png) === 0;
}

/** Loads the images of a row. One that is missing or damaged stays empty, and is named. */
export async function loadImages(
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
