/** Where a Firecracker runs: as root in the jail of its jailer, else in a folder of its own. */
import { randomInt } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { chmod, mkdir, readFile, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MissingError } from '@saccade/core';
import { type MemoryGroups, makeMemoryGroups, removeMemoryGroups } from '../../control-groups.ts';
import { MachineError } from '../../errors.ts';
import { findCommand } from '../../python-interpreter.ts';
import { makeTemporary, removeTree } from '../../temporary.ts';
import { chooseUsers, usersFrom } from '../../users.ts';
import { endsWithParent } from '../launcher.ts';

export interface Jail {
  readonly firecracker: string;
  /** Undefined where there is none to use. */
  readonly jailer?: string;
  /** Memory of the guest, in bytes. */
  readonly memoryBytes: number;
  /** Files for Firecracker to read, by their names in its folder. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Cell {
  /** To remove when it is over. */
  readonly folder: string;
  /** Firecracker's working folder, as this machine sees it. */
  readonly root: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly processGroups: MemoryGroups;
}

/** The name of its interface's socket in its folder. */
export const apiSocket = 'api.sock';
/** Firecracker itself, and what the machine reads from its files. */
const extraBytes = 128 * 2 ** 20;
/** The longest address of a Unix socket, in bytes. */
const longestPath = 107;

/**
 * First process of a name space of processes, in one of mounts: binds files (pairs up to `--`) and runs
 * what follows. With `--new-pid-ns` the jailer goes and Firecracker stays, so it waits for who has its
 * output: when it ends, by itself or because Node did, the kernel ends all that it started.
 */
const cellScript = `set -e
while [ "$1" != -- ]; do
  : > "$2"; mount --bind "$1" "$2"; mount -o remount,bind,ro "$2"; shift 2
done
shift
"$@" 2>&1 | cat >&2`;

/** @throws MissingError without `setpriv`: nothing else ends Firecracker when Node is killed */
export async function makeCell(jail: Jail): Promise<Cell> {
  if (findCommand('setpriv') === undefined) {
    throw new MissingError(
      '`setpriv` is not on the PATH; it ends micro-VMs with the process that started them. ' +
        'Install util-linux.',
    );
  }
  const folder = await makeTemporary('machine');
  let groups: MemoryGroups = { obstacle: 'It does not run in a jail.' };
  try {
    if (jail.jailer === undefined) return await makeOpenCell(jail, folder, groups);
    groups = await makeMemoryGroups();
    return await makeJailedCell(jail, jail.jailer, folder, groups);
  } catch (error) {
    await Promise.all([removeTree(folder), removeMemoryGroups(groups)]);
    throw error;
  }
}

async function makeOpenCell(jail: Jail, folder: string, groups: MemoryGroups): Promise<Cell> {
  checkLength(folder);
  for (const [name, path] of Object.entries(jail.files)) await symlink(path, join(folder, name));
  const command = [jail.firecracker, '--api-sock', apiSocket, '--id', idOf(folder)];
  const start = ['/bin/sh', '-c', 'cd "$0" && exec "$@"', folder, ...command];
  return { folder, root: folder, ...endsWithParent(start, '>&2'), processGroups: groups };
}

async function makeJailedCell(
  jail: Jail,
  jailer: string,
  folder: string,
  groups: MemoryGroups,
): Promise<Cell> {
  const unshare = findCommand('unshare');
  if (unshare === undefined) {
    throw new MissingError('`unshare` is not on the PATH. Install util-linux.');
  }
  const firecracker = realpathSync(jail.firecracker);
  const id = idOf(folder);
  const root = join(folder, basename(firecracker), id, 'root');
  checkLength(root);
  await mkdir(root, { recursive: true });
  await chmod(root, 0o700);
  const user = String(freeUser());
  const binds = Object.entries(jail.files).flatMap(([name, path]) => [path, join(root, name)]);
  const start = [
    ...[unshare, '--pid', '--mount', '--mount-proc', '--fork', '--kill-child'],
    ...['/bin/sh', '-c', cellScript, 'sh', ...binds, '--'],
    ...[jailer, '--id', id, '--exec-file', firecracker, '--uid', user, '--gid', user],
    ...['--chroot-base-dir', folder, '--new-pid-ns'],
    // The largest file that it writes is the guest's memory.
    ...['--resource-limit', `fsize=${jail.memoryBytes + extraBytes}`],
    ...(await groupArguments(groups, jail.memoryBytes + extraBytes)),
    ...['--', '--api-sock', apiSocket],
  ];
  return { folder, root, ...endsWithParent(start, '>&2'), processGroups: groups };
}

/** Letters, digits and hyphens. */
function idOf(folder: string): string {
  return `vm-${basename(folder).slice(-6)}`;
}

/** An unused number; each machine has its own. */
function freeUser(): number {
  const { base } = chooseUsers();
  return base === null ? 65_534 : base + randomInt(usersFrom(base));
}

async function groupArguments(groups: MemoryGroups, bytes: number): Promise<string[]> {
  if ('obstacle' in groups) return [];
  const { folder, version } = groups;
  const limit = version === 1 ? 'memory.limit_in_bytes' : 'memory.max';
  const parent = await belowMount(folder);
  return [
    ...['--cgroup-version', String(version), '--cgroup', `${limit}=${bytes}`],
    ...['--parent-cgroup', parent],
  ];
}

/** The jailer names groups from where their file system is mounted. */
async function belowMount(folder: string): Promise<string> {
  const lines = (await readFile('/proc/mounts', 'utf8')).split('\n');
  const mounts = lines.map((line) => line.split(' ')[1] ?? '').filter((one) => one.length > 1);
  const inside = mounts.filter((mount) => folder.startsWith(`${mount}/`));
  const mount = inside.sort((a, b) => b.length - a.length)[0] ?? '';
  return folder.slice(mount.length + 1);
}

function checkLength(root: string): void {
  const path = join(root, apiSocket);
  if (Buffer.byteLength(path) <= longestPath) return;
  throw new MachineError(
    'firecracker',
    'its folder',
    `the address of a socket has at most ${longestPath} bytes, ${path} is longer.`,
    'Set TMPDIR to a folder with a shorter path.',
  );
}
