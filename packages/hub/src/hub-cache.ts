/**
 * A repository in the cache of Hugging Face's libraries: `blobs` by hash, `snapshots` of commits that
 * link to them, and `refs` from branches and tags to commits.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { HubRepo } from './hub.ts';

const COMMIT = /^[0-9a-f]{40}$/;

export class HubCache {
  readonly #folder: string;

  /** @param cacheDirectory  of all repositories: `$HF_HOME/hub` */
  constructor(cacheDirectory: string, { name, type = 'model' }: Pick<HubRepo, 'name' | 'type'>) {
    this.#folder = join(cacheDirectory, [`${type}s`, ...name.split('/')].join('--'));
  }

  /** The directory of a commit's files. */
  snapshot(commit: string): string {
    return join(this.#folder, 'snapshots', commit);
  }

  /** The file with contents of this hash. */
  blob(hash: string): string {
    return join(this.#folder, 'blobs', hash);
  }

  /** The commit of a revision as it was last seen. */
  async commitOf(revision: string): Promise<string | undefined> {
    if (COMMIT.test(revision)) return revision;
    const path = join(this.#folder, 'refs', revision);
    if (!existsSync(path)) return undefined;
    return (await readFile(path, 'utf8')).trim();
  }

  /** Remembers the commit of a branch or tag. */
  async setCommit(revision: string, commit: string): Promise<void> {
    if (COMMIT.test(revision)) return;
    const path = join(this.#folder, 'refs', revision);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, commit);
  }

  /** Makes a file of a snapshot from the blob with its contents. */
  async link(commit: string, file: string, hash: string): Promise<void> {
    const path = join(this.snapshot(commit), file);
    const blob = this.blob(hash);
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    try {
      await symlink(relative(dirname(path), blob), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
      // Windows lets only some accounts make links; the Python library copies there, too.
      await copyFile(blob, path);
    }
  }
}
