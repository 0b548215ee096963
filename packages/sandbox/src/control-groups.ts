/**
 * Control groups that limit the memory of sessions, and give each the same share of processors and
 * disks: folders of them below our own groups, if the kernel and our rights allow it. What the groups do
 * is in python/control_groups.py and python/shares.py.
 *
 * Nothing ever leaves our own group, so whatever limits us limits the sessions too.
 */
import { constants } from 'node:fs';
import { access, mkdtemp, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@saccade/core';
import { isAbandoned, ownedPrefix } from './temporary.ts';

export type MemoryGroups =
  | {
      readonly folder: string;
      /** Version of the kernel's interface. */
      readonly version: 1 | 2;
    }
  | { readonly obstacle: string };

const sharedControllers = ['cpu', 'io'] as const;

/** Where the groups of a controller are made. */
type ShareGroup =
  /** Version 1: every controller has folders of its own. */
  | { readonly folder: string }
  /** Version 2: the groups of memory share this too. */
  | { readonly withMemory: true }
  | { readonly obstacle: string };

export type ShareGroups = Readonly<Record<(typeof sharedControllers)[number], ShareGroup>>;

/** How long the kernel may take to end what a killed server leaves, on a machine that is busy. */
const removalMs = 10_000;

/** @param proc  where the kernel tells of this process; another folder in tests */
export async function makeMemoryGroups(proc = '/proc/self'): Promise<MemoryGroups> {
  try {
    const { path, version } = await ownGroup(proc);
    const home = version === 1 ? await checkFirst(path) : await prepareSecond(path);
    await sweep(home);
    const folder = await mkdtemp(join(home, ownedPrefix('memory')));
    if (version === 2) {
      await enableShares(folder);
      await writeFile(join(folder, 'cgroup.subtree_control'), '+memory');
    }
    return { folder, version };
  } catch (error) {
    return { obstacle: error instanceof Obstacle ? error.message : explain(error) };
  }
}

/** The groups by which sessions share, for sessions in these groups of memory. */
export async function makeShareGroups(
  memory: MemoryGroups,
  proc = '/proc/self',
): Promise<ShareGroups> {
  const [cpu, io] = await Promise.all(
    sharedControllers.map((name) => makeShareGroup(name, memory, proc)),
  );
  return { cpu: cpu ?? noGroup, io: io ?? noGroup };
}

const noGroup = { obstacle: 'The kernel has no control groups.' };

/** In version 1 the disk's controller has another name, and its weight depends on the scheduler. */
const firstNames = { cpu: 'cpu', io: 'blkio' } as const;
const firstWeights = { cpu: ['cpu.shares'], io: ['blkio.bfq.weight', 'blkio.weight'] } as const;
/** The shares that the kernel gives a new group. */
const ownShares = 1024;

async function makeShareGroup(
  name: (typeof sharedControllers)[number],
  memory: MemoryGroups,
  proc: string,
): Promise<ShareGroup> {
  try {
    if ('folder' in memory && memory.version === 2)
      return await sharesOfSecond(name, memory.folder);
    const { path, version } = await ownGroup(proc, firstNames[name]);
    if (version === 2) {
      return { obstacle: 'obstacle' in memory ? memory.obstacle : 'Memory has groups elsewhere.' };
    }
    await checkWritable(path);
    await sweep(path);
    const folder = await mkdtemp(join(path, ownedPrefix(name)));
    const files = await readdir(folder);
    const weight = firstWeights[name].find((file) => files.includes(file));
    if (weight === undefined || (name === 'io' && !(await hasDiskWeights()))) {
      await rmdir(folder);
      throw new Obstacle(noWeights);
    }
    // All sessions together weigh as much as one process on each processor.
    if (name === 'cpu') {
      const shares = ownShares * availableParallelism();
      await writeFile(join(folder, weight), String(shares)).catch(() => {});
    }
    return { folder };
  } catch (error) {
    return { obstacle: error instanceof Obstacle ? error.message : explain(error) };
  }
}

async function sharesOfSecond(name: 'cpu' | 'io', folder: string): Promise<ShareGroup> {
  const enabled = await readFile(join(folder, 'cgroup.subtree_control'), 'utf8');
  if (!enabled.split(/\s+/).includes(name)) {
    throw new Obstacle(
      `The controller ${name} is not delegated to ${dirname(folder)}. ${delegate}`,
    );
  }
  if (name === 'cpu') {
    const weight = Math.min(10_000, 100 * availableParallelism());
    await writeFile(join(folder, 'cpu.weight'), String(weight)).catch(() => {});
  } else if (!(await hasDiskWeights())) {
    throw new Obstacle(noWeights);
  }
  return { withMemory: true };
}

const noWeights = 'The disks have no scheduler that shares by weight (bfq).';

/** The files of weights are there whether or not anything heeds them. */
async function hasDiskWeights(): Promise<boolean> {
  const disks = await readdir('/sys/block').catch(() => []);
  const schedulers = await Promise.all(
    disks.map((disk) => readFile(`/sys/block/${disk}/queue/scheduler`, 'utf8').catch(() => '')),
  );
  return schedulers.some((text) => text.includes('[bfq]'));
}

export async function removeShareGroups(groups: ShareGroups): Promise<void> {
  const folders = Object.values(groups).flatMap((group) =>
    'folder' in group ? [group.folder] : [],
  );
  await Promise.all(folders.map((folder) => removeInTime(folder)));
}

/** Ends whoever is left in the groups, and removes them; after ten seconds, the next start does. */
export async function removeMemoryGroups(groups: MemoryGroups): Promise<void> {
  if ('folder' in groups) await removeInTime(groups.folder);
}

/** @param ref  whether Node stays alive for it */
async function removeInTime(folder: string, ref = true): Promise<void> {
  const again = (): Promise<void> => pause(10, undefined, { ref });
  for (const end = performance.now() + removalMs; performance.now() < end; await again()) {
    if (await removeGroup(folder)) return;
    await endMembers(folder);
  }
}

/** Why there are no groups, as a sentence. */
class Obstacle extends Error {}

interface OwnGroup {
  readonly path: string;
  readonly version: 1 | 2;
}

/** The group that a controller has us in. */
async function ownGroup(proc: string, controller = 'memory'): Promise<OwnGroup> {
  const lines = (await readFile(join(proc, 'cgroup'), 'utf8')).trim().split('\n');
  const entries = lines.map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const first = entries.find((entry) => entry?.[1]?.split(',').includes(controller));
  const entry = first ?? entries.find((one) => one?.[1] === '');
  if (entry?.[2] === undefined) throw new Obstacle('The kernel has no control groups.');
  const version = first === undefined ? 2 : 1;
  const path = await mountedAt(proc, version, entry[2], controller);
  return { path, version };
}

/** Where a group is in the file system. */
async function mountedAt(
  proc: string,
  version: 1 | 2,
  group: string,
  controller: string,
): Promise<string> {
  for (const line of (await readFile(join(proc, 'mountinfo'), 'utf8')).split('\n')) {
    const [mount = '', kind = ''] = line.split(' - ');
    const [, , , root = '', place = '', options = ''] = mount.split(' ');
    const [type, , features = ''] = kind.split(' ');
    if (type !== (version === 1 ? 'cgroup' : 'cgroup2')) continue;
    if (version === 1 && !features.split(',').includes(controller)) continue;
    const below = posix.relative(root, group);
    if (below.startsWith('..')) continue;
    if (options.split(',').includes('ro')) {
      throw new Obstacle(
        `The control groups at ${place} are mounted read-only, as in a container.`,
      );
    }
    return join(place, below);
  }
  throw new Obstacle(`The control groups of ${controller} are not mounted.`);
}

async function checkFirst(path: string): Promise<string> {
  const isHierarchic = await readFile(join(path, 'memory.use_hierarchy'), 'utf8').catch(() => '1');
  if (isHierarchic.trim() !== '1') {
    throw new Obstacle(`Groups below ${path} would escape its limit (memory.use_hierarchy is 0).`);
  }
  await checkWritable(path);
  return path;
}

/**
 * In version 2 a group with processes has no groups below it that limit memory. Where we are alone in
 * ours, we step down into a leaf of it; others we do not move.
 */
async function prepareSecond(found: string): Promise<string> {
  const path = basename(found).startsWith(ownedPrefix('leaf')) ? dirname(found) : found;
  const read = async (name: string): Promise<string[]> =>
    (await readFile(join(path, name), 'utf8')).split(/\s+/).filter((word) => word !== '');
  if (!(await read('cgroup.controllers')).includes('memory')) {
    throw new Obstacle(`The memory controller is not delegated to ${path}. ${delegate}`);
  }
  await checkWritable(path);
  if ((await read('cgroup.subtree_control')).includes('memory')) {
    await enableShares(path);
    return path;
  }
  const members = await read('cgroup.procs');
  const own = String(process.pid);
  if (members.some((pid) => pid !== own)) {
    throw new Obstacle(`Other processes share the control group ${path}. ${delegate}`);
  }
  await sweep(path);
  if (members.length > 0) {
    const leaf = await mkdtemp(join(path, ownedPrefix('leaf')));
    await writeFile(join(leaf, 'cgroup.procs'), own);
  }
  await enableShares(path);
  await writeFile(join(path, 'cgroup.subtree_control'), '+memory');
  return path;
}

/** Without these controllers sessions are limited anyway, and share as processes do. */
async function enableShares(path: string): Promise<void> {
  for (const name of sharedControllers) {
    await writeFile(join(path, 'cgroup.subtree_control'), `+${name}`).catch(() => {});
  }
}

const delegate =
  'Start this process in a group of its own, e.g. `systemd-run --user --scope -p Delegate=yes node …`.';

async function checkWritable(path: string): Promise<void> {
  await access(path, constants.W_OK).catch(() => {
    throw new Obstacle(`This user may make no control groups below ${path}. ${delegate}`);
  });
}

function explain(error: unknown): string {
  return `There are no control groups of memory: ${messageOf(error)}.`;
}

/**
 * Removes what processes left behind that were killed. What the kernel has not yet ended is removed
 * later, while the start that found it goes on.
 */
async function sweep(home: string): Promise<void> {
  const stale = (await readdir(home)).filter((name) => isAbandoned(name));
  await Promise.all(
    stale.map(async (name) => {
      const folder = join(home, name);
      if (await removeGroup(folder)) return;
      // In a leaf are processes of whoever opened a sandbox, which may well outlive it.
      if (!name.startsWith('saccade-leaf-')) void removeInTime(folder, false);
    }),
  );
}

/** False while there are processes in it. */
async function removeGroup(folder: string): Promise<boolean> {
  try {
    for (const group of await groupsBelow(folder)) {
      // Version 1: else the group lives on, unseen, for as long as files it has read are kept.
      await writeFile(join(group, 'memory.force_empty'), '0').catch(() => {});
      await rmdir(group);
    }
    await rmdir(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Ends all processes of a group whose owner is gone or stops. */
async function endMembers(folder: string): Promise<void> {
  for (const group of [folder, ...(await groupsBelow(folder).catch(() => []))]) {
    const members = await readFile(join(group, 'cgroup.procs'), 'utf8').catch(() => '');
    for (const pid of members.split(/\s+/).map(Number)) {
      // The kernel gives 0 for a process of another namespace, which would mean all of our own group.
      if (pid > 1 && pid !== process.pid) kill(pid);
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended, or is another user's.
  }
}

async function groupsBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
