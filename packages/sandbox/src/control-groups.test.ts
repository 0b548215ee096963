import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeMemoryGroups, removeMemoryGroups } from './control-groups.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'saccade-groups-'));
  folders.push(folder);
  return folder;
}

interface Machine {
  /** /proc/self/cgroup. */
  readonly cgroup: string;
  /** Options and type of the mount, e.g. `rw cgroup2`; none if there is no mount. */
  readonly mount?: string;
  readonly features?: string;
  readonly root?: string;
  /** Files of our own group. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A machine as the kernel would describe it, with ordinary folders for control groups. */
function describeMachine({ cgroup, mount, features = 'rw', root = '/', files = {} }: Machine) {
  const proc = makeFolder();
  const mounted = makeFolder();
  const own = join(mounted, 'own');
  mkdirSync(own);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text);
  const [options = '', type = ''] = mount?.split(' ') ?? [];
  const line = `30 23 0:26 ${root} ${mounted} ${options} shared:9 - ${type} none ${features}\n`;
  writeFileSync(join(proc, 'cgroup'), cgroup);
  writeFileSync(join(proc, 'mountinfo'), `20 1 8:1 / / rw - ext4 /dev/x rw\n${mount ? line : ''}`);
  return { proc, own };
}

const second = { cgroup: '0::/own\n', mount: 'rw cgroup2' };

describe('where groups of memory cannot be made, the reason', () => {
  const cases: readonly [string, Machine, RegExp][] = [
    ['a kernel without them', { cgroup: '' }, /no control groups/],
    ['no mount of them', { cgroup: '4:memory:/own\n' }, /not mounted/],
    [
      'another controller’s mount',
      { cgroup: '4:memory:/own\n', mount: 'rw cgroup', features: 'rw,pids' },
      /not mounted/,
    ],
    [
      'a group outside of what is mounted',
      { cgroup: '4:memory:/own\n', mount: 'rw cgroup', features: 'rw,memory', root: '/other' },
      /not mounted/,
    ],
    ['a mount that is read-only', { ...second, mount: 'ro cgroup2' }, /mounted read-only/],
    [
      'a group whose limit would not hold below it',
      {
        ...{ cgroup: '4:memory:/own\n', mount: 'rw cgroup', features: 'rw,memory' },
        files: { 'memory.use_hierarchy': '0\n' },
      },
      /use_hierarchy is 0/,
    ],
    [
      'a controller that is not delegated',
      { ...second, files: { 'cgroup.controllers': 'cpu pids\n' } },
      /not delegated.*Delegate=yes/,
    ],
    [
      'other processes in our group',
      {
        ...second,
        files: {
          'cgroup.controllers': 'memory\n',
          'cgroup.subtree_control': '',
          'cgroup.procs': `1\n${process.pid}\n`,
        },
      },
      /Other processes share.*Delegate=yes/,
    ],
  ];
  for (const [name, machine, reason] of cases) {
    it(`is said: ${name}`, async () => {
      const { proc, own } = describeMachine(machine);
      expect(await makeMemoryGroups(proc)).toEqual({ obstacle: expect.stringMatching(reason) });
      expect(readdirSync(own)).toEqual(Object.keys(machine.files ?? {}).sort());
    });
  }

  it('is said: a machine without /proc', async () => {
    expect(await makeMemoryGroups('/nowhere')).toEqual({
      obstacle: expect.stringMatching(/no control groups of memory: ENOENT/),
    });
  });
});

describe('groups of the kernel’s second version', () => {
  it('are made below ours, into a leaf of which we step where we are alone', async () => {
    const { proc, own } = describeMachine({
      ...second,
      files: {
        'cgroup.controllers': 'cpu memory\n',
        'cgroup.subtree_control': '',
        'cgroup.procs': `${process.pid}\n`,
      },
    });
    const groups = await makeMemoryGroups(proc);
    expect(groups).toMatchObject({ version: 2, folder: expect.stringContaining(own) });
    const leaf = readdirSync(own).find((name) => name.startsWith('saccade-leaf-')) ?? '';
    expect(readFileSync(join(own, leaf, 'cgroup.procs'), 'utf8')).toBe(String(process.pid));
    expect(readFileSync(join(own, 'cgroup.subtree_control'), 'utf8')).toBe('+memory');
    writeFileSync(join(own, 'cgroup.subtree_control'), 'memory\n'); // as the kernel tells it
    // From the leaf, the same group is found, and used as it is.
    writeFileSync(join(proc, 'cgroup'), `0::/own/${leaf}\n`);
    expect(await makeMemoryGroups(proc)).toMatchObject({ folder: expect.stringContaining(own) });
    expect(readdirSync(own).filter((name) => name.startsWith('saccade-leaf-'))).toEqual([leaf]);
  });
});

describe('the folder of groups', () => {
  it('is removed, with its groups, and so is what a dead process left', async (context) => {
    const groups = await makeMemoryGroups();
    if ('obstacle' in groups) return context.skip(groups.obstacle);
    const { folder } = groups;
    const child = spawn('true');
    await once(child, 'exit');
    const left = mkdtempSync(folder.replace(`-${process.pid}-`, `-${child.pid}-`));
    for (const place of [folder, left]) mkdirSync(join(place, 's0'));
    const others = await makeMemoryGroups();
    expect(existsSync(left)).toBe(false);
    expect(existsSync(folder)).toBe(true);
    await Promise.all([removeMemoryGroups(groups), removeMemoryGroups(others)]);
    const own = readdirSync(dirname(folder)).filter((name) => name.includes(`-${process.pid}-`));
    expect(own.filter((name) => name.startsWith('saccade-memory-'))).toEqual([]);
  });

  it('is removed with a process that a killed server left, which ends', async (context) => {
    const groups = await makeMemoryGroups();
    if ('obstacle' in groups) return context.skip(groups.obstacle);
    const { folder } = groups;
    const gone = spawn('true');
    await once(gone, 'exit');
    const left = mkdtempSync(folder.replace(`-${process.pid}-`, `-${gone.pid}-`));
    mkdirSync(join(left, 's0'));
    const survivor = spawn('sleep', ['60']);
    writeFileSync(join(left, 's0', 'cgroup.procs'), String(survivor.pid));
    const ended = once(survivor, 'exit');
    const others = await makeMemoryGroups();
    expect(await ended).toEqual([null, 'SIGKILL']);
    await vi.waitFor(() => expect(existsSync(left)).toBe(false), { timeout: 5000 });
    await Promise.all([removeMemoryGroups(groups), removeMemoryGroups(others)]);
    expect(existsSync(folder)).toBe(false);
  });
});
