/**
 * Keeps drawn tasks in a folder, so that a large image is drawn once. Files are named by the SHA-256 of
 * their bytes, records by the SHA-256 of all that a task depends on: code, data, settings, split, index.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionalText } from '@saccade/core/settings';
import type { Split, Task, TaskImage, TaskSet, TaskVideo } from '@saccade/gym';

/** The setting of task sets whose tasks can be kept. */
export const cacheSetting = optionalText({
  unit: 'path',
  about: 'Folder that keeps drawn tasks, some megabytes each; without it, each is drawn anew.',
});

const hashOf = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/** The record of a task: its bytes are files of their own. */
interface TaskRecord {
  readonly task: Omit<Task, 'images' | 'videos'>;
  readonly images: readonly (Omit<TaskImage, 'png'> & { readonly sha256: string })[];
  readonly videos?: readonly (Omit<TaskVideo, 'encoded'> & { readonly sha256: string })[];
}

/**
 * The same tasks, read from a folder where they are there. What is missing or damaged is drawn and
 * written again. Writing is atomic, so processes may share a folder.
 *
 * @param settings  everything that its tasks depend on besides split and index
 */
export function cachedTasks(
  taskSet: Pick<TaskSet, 'size' | 'task'>,
  name: string,
  settings: object,
  folder: string,
): Pick<TaskSet, 'size' | 'task'> {
  const objects = (sha256: string) => join(folder, 'objects', sha256.slice(0, 2), sha256);
  const inFlight = new Map<string, Promise<Task>>();
  const read = async (path: string): Promise<Task | undefined> => {
    try {
      const record = JSON.parse(await readFile(path, 'utf8')) as TaskRecord;
      const bytesOf = async (sha256: string) => {
        const bytes = await readFile(objects(sha256));
        if (hashOf(bytes) !== sha256) throw new RangeError('A kept file is damaged.');
        return bytes;
      };
      const images = await Promise.all(
        record.images.map(async ({ sha256, ...rest }) => ({ ...rest, png: await bytesOf(sha256) })),
      );
      if (record.videos === undefined) return { ...record.task, images };
      const videos = await Promise.all(
        record.videos.map(async ({ sha256, ...rest }) => {
          return { ...rest, encoded: await bytesOf(sha256) };
        }),
      );
      return { ...record.task, images, videos };
    } catch {
      // Missing, damaged or half a record: the task is drawn from its index, which is always right.
      return undefined;
    }
  };
  const keep = async (path: string, { images, videos, ...task }: Task): Promise<void> => {
    const put = async (bytes: Uint8Array) => {
      const sha256 = hashOf(bytes);
      await writeWhole(objects(sha256), bytes);
      return sha256;
    };
    const record: TaskRecord = {
      task,
      images: await Promise.all(
        images.map(async ({ png, ...rest }) => ({ ...rest, sha256: await put(png) })),
      ),
      ...(videos && {
        videos: await Promise.all(
          videos.map(async ({ encoded, ...rest }) => ({ ...rest, sha256: await put(encoded) })),
        ),
      }),
    };
    await writeWhole(path, JSON.stringify(record));
  };
  const make = async (path: string, split: Split, index: number): Promise<Task> => {
    const kept = await read(path);
    if (kept !== undefined) return kept;
    const task = await taskSet.task(split, index);
    await keep(path, task);
    return task;
  };
  return {
    size: (split) => taskSet.size(split),
    async task(split, index) {
      const key = hashOf(JSON.stringify([ownDigest(), name, settings, split, index]));
      // A group asks for its task several times at once.
      const known = inFlight.get(key) ?? make(join(folder, 'tasks', `${key}.json`), split, index);
      inFlight.set(key, known);
      try {
        return await known;
      } finally {
        inFlight.delete(key);
      }
    },
  };
}

/** Writes a file under another name first, so that nobody reads half of it. */
async function writeWhole(path: string, bytes: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${randomUUID()}.part`;
  await writeFile(part, bytes);
  await rename(part, path);
}

let digest: string | undefined;

/** The SHA-256 of this package's code and data: a changed drawing never comes from an old folder. */
function ownDigest(): string {
  if (digest !== undefined) return digest;
  const code = fileURLToPath(new URL('..', import.meta.url));
  const data = fileURLToPath(new URL('../../data', import.meta.url));
  const hash = createHash('sha256');
  for (const folder of [code, data]) {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(js|ts|json|jpg)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    for (const name of names) hash.update(readFileSync(name));
  }
  digest = hash.digest('hex');
  return digest;
}
