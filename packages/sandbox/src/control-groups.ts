/**
 * Control groups that limit the memory of sessions: a folder of them below our own group, if the
 * kernel and our rights allow one. What the groups do is in python/control_groups.py.
 *
 * Nothing ever leaves our own group, so whatever limits us limits the sessions too.
 */
import { constants } from 'node:fs';
import { access, mkdtemp, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@saccade/core';
import { isAbandoned, ownedPrefix } from './temporary.ts';

export type MemoryGroups =
  | {
      readonly folder: string;
      /** Of the kernel's interface. */
      readonly version: 1 | 2;
    }
  | { readonly obstacle: string };

/** How long the kernel may take to end what a killed server leaves. */
const removalMs = 2_000;

/** @param proc  where the kernel tells of this process; another folder in tests */
export async function makeMemoryGroups(proc = '/proc/self'): Promise<MemoryGroups> {
  try {
    const { path, version } = await ownGroup(proc);
    const home = version === 1 ? await checkFirst(path) : await prepareSecond(path);
    await sweep(home);
    const folder = await mkdtemp(join(home, ownedPrefix('memory')));
    if (version === 2) await writeFile(join(folder, 'cgroup.subtree_control'), '+memory');
    return { folder, version };
  } catch (error) {
    return { obstacle: error instanceof Obstacle ? error.message : explain(error) };
  }
}

/** Removes the groups once nobody is left in them; after two seconds, the next start does. */
export async function removeMemoryGroups(groups: MemoryGroups): Promise<void> {
  if ('obstacle' in groups) return;
  for (const end = performance.now() + removalMs; performance.now() < end; await pause(10)) {
    if (await removeGroup(groups.folder)) return;
  }
}

/** Why there are no groups, as a sentence. */
class Obstacle extends Error {}

interface OwnGroup {
  readonly path: string;
  readonly version: 1 | 2;
}

/** The group that the memory controller has us in. */
async function ownGroup(proc: string): Promise<OwnGroup> {
  const lines = (await readFile(join(proc, 'cgroup'), 'utf8')).trim().split('\n');
  const entries = lines.map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const first = entries.find((entry) => entry?.[1]?.split(',').includes('memory'));
  const entry = first ?? entries.find((one) => one?.[1] === '');
  if (entry?.[2] === undefined) throw new Obstacle('The kernel has no control groups.');
  const version = first === undefined ? 2 : 1;
  const path = await mountedAt(proc, version, entry[2]);
  return { path, version };
}

/** Where a group is in the file system. */
async function mountedAt(proc: string, version: 1 | 2, group: string): Promise<string> {
  for (const line of (await readFile(join(proc, 'mountinfo'), 'utf8')).split('\n')) {
    const [mount = '', kind = ''] = line.split(' - ');
    const [, , , root = '', place = '', options = ''] = mount.split(' ');
    const [type, , features = ''] = kind.split(' ');
    if (type !== (version === 1 ? 'cgroup' : 'cgroup2')) continue;
    if (version === 1 && !features.split(',').includes('memory')) continue;
    const below = posix.relative(root, group);
    if (below.startsWith('..')) continue;
    if (options.split(',').includes('ro')) {
      throw new Obstacle(
        `The control groups at ${place} are mounted read-only, as in a container.`,
      );
    }
    return join(place, below);
  }
  throw new Obstacle('The control groups of memory are not mounted.');
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
  if ((await read('cgroup.subtree_control')).includes('memory')) return path;
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
  await writeFile(join(path, 'cgroup.subtree_control'), '+memory');
  return path;
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

/** Removes what processes left behind that were killed. */
async function sweep(home: string): Promise<void> {
  const names = await readdir(home);
  const stale = names.filter((name) => isAbandoned(name));
  await Promise.all(stale.map((name) => removeGroup(join(home, name))));
}

/** False while there are processes in it. */
async function removeGroup(folder: string): Promise<boolean> {
  try {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const group = join(folder, entry.name);
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
