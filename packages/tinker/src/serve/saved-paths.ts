/** Where a server keeps weights: names of the wire, and directories below one of its own. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '@saccade/core';
import { TinkerError, wrongField } from '../wire/tinker-error.ts';

const SCHEME = 'tinker://';
/** What is saved: weights to train on, and weights to sample with. */
const KINDS: readonly string[] = ['weights', 'sampler_weights'];
const PART = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

export class SavedPaths {
  readonly #root: string;
  /** Versions of weights that were saved since the server started. */
  readonly #versions = new Map<string, number>();

  constructor(root: string) {
    this.#root = resolve(root);
  }

  /** A path to save to. @throws TinkerError if the name is no plain name */
  newPath(
    modelId: string,
    kind: 'weights' | 'sampler_weights',
    name: string,
  ): { readonly uri: string; readonly directory: string } {
    if (!PART.test(name)) {
      throw wrongField('path', `"${name}": expected a name of letters, digits, ".", "_" and "-".`);
    }
    const uri = `${SCHEME}${modelId}/${kind}/${name}`;
    return { uri, directory: join(this.#root, modelId, kind, name) };
  }

  /** The directory of a path that was saved. @throws TinkerError if there is none */
  directoryOf(uri: string): string {
    const parts = uri.startsWith(SCHEME) ? uri.slice(SCHEME.length).split('/') : [];
    const isOurs =
      parts.length === 3 &&
      parts.every((part) => PART.test(part)) &&
      KINDS.includes(parts[1] ?? '');
    const directory = isOurs ? join(this.#root, ...parts) : '';
    if (isOurs && existsSync(directory)) return directory;
    // It was being replaced when the server ended.
    if (isOurs && existsSync(asideOf(directory))) return asideOf(directory);
    throw new TinkerError('user', `There are no weights ${uri} here. Give a path that was saved.`, {
      status: 404,
      field: 'path',
    });
  }

  /** Removes what was saved under a path. @throws TinkerError if there is none */
  async delete(uri: string): Promise<void> {
    const directory = this.directoryOf(uri);
    const doomed = `${directory}.deleted-${randomUUID().slice(0, 8)}`;
    // Half of it would be damaged weights: what is left has another name.
    await rename(directory, doomed);
    this.#versions.delete(uri);
    await rm(doomed, { recursive: true, force: true });
  }

  /** Remembers what a path has. */
  remember(uri: string, version: number): void {
    this.#versions.set(uri, version);
  }

  /** The version of weights that were saved since the server started. */
  versionOf(uri: string): number | undefined {
    return this.#versions.get(uri);
  }

  /** Where weights for engines are written, if a request names no directory. */
  publishDirectory(modelId: string): string {
    return join(this.#root, modelId, 'published');
  }

  /**
   * Writes a directory as a whole: after a crash it is what it was before, or under `.replaced` beside
   * it. What could not be written takes no room.
   *
   * @returns its hash
   * @throws TinkerError `disk` if the system does not let it be written
   */
  async write(directory: string, fill: (directory: string) => Promise<void>): Promise<string> {
    const partial = `${directory}.partial`;
    const aside = asideOf(directory);
    try {
      return await writing(directory, async () => {
        await rm(partial, { recursive: true, force: true });
        await mkdir(dirname(directory), { recursive: true });
        await fill(partial);
        const sha256 = await hashOfDirectory(partial);
        if (existsSync(directory)) {
          await rm(aside, { recursive: true, force: true });
          await rename(directory, aside);
        }
        await rename(partial, directory);
        await rm(aside, { recursive: true, force: true });
        return sha256;
      });
    } catch (error) {
      await rm(partial, { recursive: true, force: true }).catch(() => {});
      throw error;
    }
  }
}

/** Runs what writes to a directory. @throws TinkerError `disk` if the system does not let it be written */
export async function writing<Result>(
  directory: string,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (cause) {
    if (!isOfSystem(cause)) throw cause;
    const message =
      `Weights could not be written to ${directory}: ${messageOf(cause)}. Make room where the learner ` +
      'runs, then continue the run with --resume.';
    throw new TinkerError('server', message, { code: 'disk', cause });
  }
}

function asideOf(directory: string): string {
  return `${directory}.replaced`;
}

/** Whether an error is the operating system's: no room, no permission, a disk that fails. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

/** SHA-256, hex, over the names and the hashes of a directory's files, in order. */
export async function hashOfDirectory(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(directory)).sort()) {
    const own = createHash('sha256').update(await readFile(join(directory, name)));
    hash.update(`${name} ${own.digest('hex')}\n`);
  }
  return hash.digest('hex');
}
