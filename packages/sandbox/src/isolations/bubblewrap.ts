/**
 * Linux namespaces by bubblewrap: no network, no host processes, and of the host's files only
 * `/usr` and the interpreter, read-only.
 *
 * Inside, the server puts each session into namespaces, Landlock rules and a filter of system calls
 * of its own (python/confinement.py). As an ordinary user everything runs in a user namespace. As
 * root there is none around the server: root inside a user namespace of one user is root for the
 * kernel (it can write /proc/sys), so instead the server keeps just the right to change user, and
 * each session becomes a user of its own.
 */
import { dirname } from 'node:path';
import { MissingError, UnsupportedError } from '@saccade/core';
import {
  type Isolation,
  type LaunchPlan,
  serverArguments,
  sessionEnvironment,
} from '../isolation.ts';
import { findCommand } from '../python-interpreter.ts';
import { readablePaths, systemFolders } from './libraries.ts';

const scratch = '/tmp/saccade';
/** Where each session mounts its files; everything around it is read-only. */
const mountPoint = '/tmp/sandbox/session';
const memoryFolder = '/groups';
const shareFolder = '/shares';

export const bubblewrapIsolation: Isolation = {
  id: 'bubblewrap',
  ownsProcesses: true,
  layers: ['namespaces', 'landlock', 'seccomp'],

  async launch(plan) {
    if (process.platform !== 'linux') {
      throw new UnsupportedError(
        `bubblewrap works on Linux only, this is ${process.platform}. Use isolation "process".`,
      );
    }
    const command = findCommand('bwrap');
    if (command === undefined) {
      throw new MissingError(
        'bubblewrap (`bwrap`) is not on the PATH. Install it, e.g. `apt-get install bubblewrap`.',
      );
    }
    const environment = Object.entries(sessionEnvironment(scratch));
    const args = [
      ...(plan.hasUsers ? namespacesAsRoot : namespacesAsUser),
      ...controlGroups(plan),
      ...['--die-with-parent', '--new-session', '--hostname', 'sandbox', '--clearenv'],
      ...environment.flatMap(([name, value]) => ['--setenv', name, value]),
      ...mounts(plan),
      ...['--chdir', '/tmp', plan.interpreter.python, ...serverArguments(plan)],
    ];
    return { command, args, env: {}, scratch, mountPoint, memoryFolder, shareFolder };
  },
};

const unshared = ['ipc', 'pid', 'net', 'uts'].map((kind) => `--unshare-${kind}`);

/** Not `--disable-userns`: the server makes each session's namespaces; code may make none. */
const namespacesAsUser = [...unshared, '--unshare-user', '--cap-drop', 'ALL'];

const namespacesAsRoot = [
  ...unshared,
  ...['--cap-drop', 'ALL'],
  ...['SETUID', 'SETGID', 'KILL', 'CHOWN', 'DAC_OVERRIDE'].flatMap((c) => [
    '--cap-add',
    `CAP_${c}`,
  ]),
];

/** From a namespace of control groups, version 2 lets nobody into groups outside of it. */
function controlGroups({ memoryGroups, shareGroups }: LaunchPlan): string[] {
  const shares = Object.entries(shareGroups).flatMap(([name, group]) =>
    'folder' in group ? ['--bind', group.folder, `${shareFolder}/${name}`] : [],
  );
  if ('obstacle' in memoryGroups) return ['--unshare-cgroup-try', ...shares];
  const bind = ['--bind', memoryGroups.folder, memoryFolder];
  return memoryGroups.version === 1 ? ['--unshare-cgroup-try', ...bind, ...shares] : bind;
}

function mounts(plan: LaunchPlan): string[] {
  const args = ['--ro-bind', '/usr', '/usr'];
  for (const { path, link } of systemFolders()) {
    args.push(...(link === undefined ? ['--ro-bind', path, path] : ['--symlink', link, path]));
  }
  args.push('--proc', '/proc', '--dev', '/dev');
  args.push('--perms', '0755', '--size', '65536', '--tmpfs', '/tmp');
  args.push('--perms', '0755', '--dir', dirname(mountPoint), '--dir', mountPoint);
  args.push('--perms', '0711', '--size', String(plan.scratchBytes), '--tmpfs', scratch);
  // bubblewrap makes missing parents with mode 0700, closed to the users of the sessions.
  const made = new Set(['/', '/tmp']);
  for (const path of readablePaths(plan)) {
    const parents: string[] = [];
    for (let p = dirname(path); !made.has(p); p = dirname(p)) parents.unshift(p);
    for (const parent of parents) {
      made.add(parent);
      args.push('--perms', '0755', '--dir', parent);
    }
    args.push('--ro-bind', path, path);
  }
  return [...args, '--remount-ro', '/dev', '--remount-ro', '/tmp', '--remount-ro', '/'];
}
