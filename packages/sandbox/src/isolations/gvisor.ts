/**
 * gVisor: the system calls of a session are answered by a kernel that is an ordinary process
 * (`runsc`, with few rights and a narrow filter of its own) and reach the machine's kernel no more.
 *
 * A server loads once; its checkpoint is then started again for every session, so each session has a
 * kernel, processes, users, a disk and a network without a way out for itself. The channel is the
 * container's standard input, a socket, which the checkpoint takes over from whoever restores it.
 */
import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MissingError, messageOf, UnsupportedError } from '@saccade/core';
import { SandboxError } from '../errors.ts';
import {
  bridgeArguments,
  type Isolation,
  type Launch,
  type LaunchPlan,
  type Snapshot,
  sessionEnvironment,
} from '../isolation.ts';
import { findCommand, runForText } from '../python-interpreter.ts';
import { makeTemporary, removeTree } from '../temporary.ts';
import { endsWithParent } from './launcher.ts';
import { readablePaths, systemFolders } from './libraries.ts';

const scratch = '/tmp/saccade';
const mountPoint = '/tmp/sandbox/session';

export const gvisorIsolation: Isolation = {
  id: 'gvisor',
  kernel: 'emulated',
  ownsProcesses: true,
  sessionsPerServer: 1,
  layers: ['namespaces', 'landlock', 'seccomp'],

  async launch(plan) {
    if (process.platform !== 'linux') {
      throw new UnsupportedError(
        `gVisor works on Linux only, this is ${process.platform}. Use a remote sandbox.`,
      );
    }
    const runsc = findCommand('runsc');
    if (runsc === undefined) {
      throw new MissingError(
        'gVisor (`runsc`) is not on the PATH. Install it, e.g. `apt-get install runsc`.',
      );
    }
    const place: Place = { runsc, platform: await bestPlatform(runsc), plan };
    const { launch, folder } = await prepare(place, 'run');
    // `runsc restore` is for root alone; others' sessions start from nothing.
    return isRoot() ? { ...launch, freeze: () => freeze(place, folder) } : launch;
  },
};

/** Names of containers are one for the whole machine, wherever their states are kept. */
const containerIn = (folder: string): string => basename(folder);

interface Place {
  readonly runsc: string;
  readonly platform: string;
  readonly plan: LaunchPlan;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** How gVisor gets hold of system calls: `systrap` (newer) costs less than `ptrace`. */
async function bestPlatform(runsc: string): Promise<string> {
  const text = await runForText(runsc, ['help', 'platforms']).catch(() => '');
  return text.includes('systrap') ? 'systrap' : 'ptrace';
}

function options({ platform }: Place, folder: string): string[] {
  return [
    ...[`--root=${join(folder, 'state')}`, `--platform=${platform}`, '--network=none'],
    // The libraries do not change meanwhile, so gVisor need not revalidate them on every access.
    ...['--file-access-mounts=exclusive', '--overlay2=none', '--ignore-cgroups'],
    ...(isRoot() ? [] : ['--rootless']),
  ];
}

async function prepare(
  place: Place,
  order: 'run' | 'restore',
  image?: string,
): Promise<{ launch: Launch; folder: string }> {
  const folder = await makeTemporary('gvisor');
  try {
    const root = join(folder, 'root');
    await mkdir(root);
    await mkdir(join(folder, 'state'));
    for (const { path, link } of systemFolders()) {
      if (link !== undefined) await symlink(link, join(root, path));
    }
    // Only the server is to read them, and it is the owner inside.
    const sources = join(folder, 'sources');
    await cp(place.plan.sources, sources, { recursive: true });
    await chmod(sources, 0o700);
    const config = bundle(place.plan, root, sources);
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
  const from = image === undefined ? [] : [`--image-path=${image}`];
  const orders = [order, `--bundle=${folder}`, ...from, containerIn(folder)];
  return {
    folder,
    launch: {
      // A container gets only the standard ones of our descriptors.
      ...endsWithParent(
        [place.runsc, ...options(place, folder), ...orders],
        `<&${place.plan.socketNumber} ${place.plan.socketNumber}<&-`,
      ),
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
      scratch,
      mountPoint,
      temporary: folder,
      memoryGroups: { obstacle: 'gVisor has no control groups of memory inside.' },
    },
  };
}

async function freeze(place: Place, folder: string): Promise<Snapshot> {
  const image = await makeTemporary('checkpoint');
  try {
    const order = ['checkpoint', `--image-path=${image}`, containerIn(folder)];
    await runForText(place.runsc, [...options(place, folder), ...order]);
  } catch (error) {
    await removeTree(image);
    throw new SandboxError(`gVisor could not save its server: ${messageOf(error)}`);
  }
  return {
    launch: async () => (await prepare(place, 'restore', image)).launch,
    remove: () => removeTree(image),
  };
}

const rights = ['SETUID', 'SETGID', 'KILL', 'CHOWN', 'DAC_OVERRIDE'].map((name) => `CAP_${name}`);

/** The container's program and the files it sees, as an Open Container Initiative bundle. */
function bundle(
  plan: LaunchPlan,
  root: string,
  sources: string,
): Readonly<Record<string, unknown>> {
  const bind = (path: string) => ({
    destination: path,
    type: 'bind',
    source: path === plan.sources ? sources : path,
    options: ['ro', 'rbind'],
  });
  const memory = (destination: string, size: number, mode: string) => ({
    destination,
    type: 'tmpfs',
    source: 'tmpfs',
    options: [`size=${size}`, `mode=${mode}`, 'nosuid', 'nodev'],
  });
  const folders = systemFolders().flatMap(({ path, link }) => (link === undefined ? [path] : []));
  const paths = [...new Set(['/usr', ...folders, ...readablePaths(plan)])];
  return {
    ociVersion: '1.0.2',
    hostname: 'sandbox',
    root: { path: root, readonly: true },
    mounts: [
      // Empty: it would show the server's processes, and what they were started with.
      memory('/proc', 4_096, '0555'),
      memory('/tmp', 65_536, '0755'),
      memory(scratch, plan.scratchBytes, '0711'),
      memory(`${scratch}/sessions`, plan.diskBytes, '0711'),
      ...paths.map(bind),
    ],
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      cwd: '/tmp',
      args: bridgeArguments(plan, '0'),
      env: Object.entries(sessionEnvironment(scratch)).map(([name, value]) => `${name}=${value}`),
      capabilities: {
        bounding: rights,
        effective: rights,
        inheritable: rights,
        permitted: rights,
      },
      noNewPrivileges: true,
      rlimits: [{ type: 'RLIMIT_NOFILE', hard: 65_536, soft: 65_536 }],
    },
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount', 'network'].map((type) => ({ type })),
    },
  };
}
