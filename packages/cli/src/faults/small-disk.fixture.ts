/** A disk that can be made full and given room again: a file system in memory, where it may be mounted. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOMY = 2 ** 30;

export class SmallDisk {
  readonly directory: string;

  /** @throws if this process may not mount */
  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.directory = directory;
    mount(['-t', 'tmpfs', '-o', `size=${ROOMY}`, 'tmpfs', directory]);
  }

  /** Leaves so many bytes of room, to a page. */
  fill(leavesBytes: number): void {
    const { blocks, bfree, bsize } = statfsSync(this.directory);
    const used = (blocks - bfree) * bsize;
    this.#resize(used + Math.max(bsize, leavesBytes));
  }

  giveRoom(): void {
    this.#resize(ROOMY);
  }

  dispose(): void {
    spawnSync('umount', ['-l', this.directory]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  #resize(bytes: number): void {
    mount(['-o', `remount,size=${bytes}`, this.directory]);
  }
}

/** Whether this process may mount disks of its own. */
export function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-disk-'));
  try {
    new SmallDisk(directory).dispose();
    return true;
  } catch {
    rmSync(directory, { recursive: true, force: true });
    return false;
  }
}

function mount(args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${error?.message ?? stderr}`);
}
