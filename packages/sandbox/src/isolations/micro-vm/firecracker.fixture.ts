/** A machine whose Firecracker is `firecracker.fixture.mjs`, and sandbox servers that run in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultForbidden, defaultPrelude } from '../../forbidden.ts';
import type { ForkServerOptions } from '../../fork-server.ts';
import { bridgeArguments, type Launch, sessionEnvironment } from '../../isolation.ts';
import { defaultLimits } from '../../limits.ts';
import { Permits } from '../../permits.ts';
import { pythonSources } from '../../python-environment.ts';
import type { PythonInterpreter } from '../../python-interpreter.ts';
import type { LinkOptions } from '../../server-link.ts';
import { usersOfOwnKernel } from '../../users.ts';
import { type FirecrackerMachine, launchFirecracker } from './firecracker.ts';
import { guestScratch } from './guest-image.ts';

/** Faults to inject: at a request (`PUT /vsock`), or elsewhere. */
export interface Faults {
  readonly [request: `${'GET' | 'PUT' | 'PATCH'} ${string}`]:
    | ('refuse' | 'die' | 'silent' | 'hangup' | 'garbage' | 'slow')
    | undefined;
  readonly start?: 'die' | 'deaf';
  /** Nobody listens in the guest. */
  readonly guest?: 'never';
  /** Connections that are closed at once, and those that are closed after `OK`. */
  readonly early?: number;
  readonly reset?: number;
  /** Said by the guest instead of its answer. */
  readonly babble?: string;
  readonly version?: string;
  /** The error with which a machine without a disk ends. */
  readonly trial?: string;
}

export interface Stand {
  readonly folder: string;
  readonly machine: FirecrackerMachine;
  readonly link: LinkOptions;
  setFaults(faults: Faults): Promise<void>;
  /** Requests so far, each with its body. */
  requests(): readonly [string, string][];
  /** The changes that copies made to their clock and random numbers. */
  notes(): readonly [string, string | number][];
  /** Folders of ours and processes that are there still. */
  leftovers(): readonly string[];
  remove(): Promise<void>;
}

const repository = join(import.meta.dirname, '../../../../..');
const fixture = (name: string): string => join(import.meta.dirname, name);

export interface StandOptions {
  /** Whether it runs in `jailer.fixture.mjs`. */
  readonly isJailed?: boolean;
  /** Whether the guest has the real server; else one that only says `ready`, which takes less time. */
  readonly hasServer?: boolean;
}

export async function makeStand(
  interpreter: PythonInterpreter,
  { isJailed = false, hasServer = false }: StandOptions = {},
): Promise<Stand> {
  const folder = await mkdtemp(join(tmpdir(), 'fc-stand-'));
  const inside = (name: string): string => join(folder, name);
  const program = async (name: string, script: string, ...args: string[]): Promise<string> => {
    const words = [process.execPath, fixture(script), ...args].map((word) => `'${word}'`);
    await writeFile(inside(name), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
    return inside(name);
  };
  const setFaults = (faults: Faults) => writeFile(inside('faults.json'), JSON.stringify(faults));
  await setFaults({});
  await writeFile(inside('kernel'), '\x7fELF and more');
  await writeFile(inside('disk'), 'a disk');
  const plan = {
    ...{ interpreter, sources: pythonSources, socketNumber: 3, hasUsers: true },
    ...{ scratchBytes: 2 ** 28, diskBytes: 2 ** 26, memoryBytes: 2 ** 30 },
  };
  const bridge = bridgeArguments(
    { ...plan, memoryGroups: none, shareGroups: { cpu: none, io: none } },
    '@',
  );
  const guest = hasServer ? isolatedGuest(bridge, folder) : quickGuest(bridge, folder);
  await writeFile(inside('archive'), JSON.stringify(guest));
  const machine: FirecrackerMachine = {
    firecracker: await program('firecracker', 'firecracker.fixture.mjs', folder),
    ...(isJailed ? { jailer: await program('jailer', 'jailer.fixture.mjs', folder) } : {}),
    kernel: inside('kernel'),
    image: { disk: inside('disk'), archive: inside('archive'), init: '/usr/bin/python3' },
    plan,
    times: {
      ...{ listenSeconds: 60, answerSeconds: 60, savingSeconds: 60 },
      ...{ startSeconds: 60, copySeconds: 60 },
    },
  };
  const lines = (name: string): string[] => {
    const text = readdirSync(folder).includes(name) ? readFileSync(inside(name), 'utf8') : '';
    return text.split('\n').filter((line) => line !== '');
  };
  return {
    folder,
    machine,
    link: linkTo(() => launchFirecracker(machine), plan),
    setFaults,
    requests: () => lines('requests').map((line) => JSON.parse(line)),
    notes: () => lines('notes').map((line) => JSON.parse(line)),
    leftovers: () => [...ownFolders(), ...processesWith(folder)],
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const none = { obstacle: 'none' };

const agentArguments = (folder: string): string[] => [
  ...[fixture('agent.fixture.py'), '@ROOM/agent', join(folder, 'notes')],
];

/** Answers the first frame with `ready`, and each later one with `pong`. */
const quickServer = `
import json, socket, struct
channel = socket.socket(fileno=3)
kinds = iter(["ready"])
while prefix := channel.recv(12, socket.MSG_WAITALL):
    channel.recv(struct.unpack("<3I", prefix)[0], socket.MSG_WAITALL)
    header = json.dumps({"type": next(kinds, "pong"), "report": {}}).encode()
    channel.sendall(struct.pack("<3I", len(header), 0, len(header)) + header)
`;

/** The agent with the small server; the kernel ends it with Firecracker, as it ends a guest. */
function quickGuest(bridge: readonly string[], folder: string): object {
  const [python = '', , script = '', channel = ''] = bridge;
  const server = [python, '-I', '-S', '-c', quickServer];
  const agent = [python, '-s', ...agentArguments(folder), script, channel, ...server];
  return { command: 'setpriv', args: ['--pdeathsig', 'KILL', '--', ...agent] };
}

/** The command that the kernel would start, behind walls that have the guest's folders. */
function isolatedGuest(bridge: readonly string[], folder: string): object {
  const [python = '', , script = '', ...rest] = bridge;
  const walls = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    // The clone may lie in /tmp itself.
    ...['--ro-bind', repository, repository],
    ...['--dir', guestScratch, '--dir', '/tmp/sandbox/session', '--bind', '@ROOM', '@ROOM'],
    ...['--bind', folder, folder, '--unshare-pid', '--unshare-net', '--die-with-parent'],
    ...['--clearenv', ...environmentArguments()],
  ];
  const agent = [python, '-s', ...agentArguments(folder), script, ...rest];
  return { command: 'bwrap', args: [...walls, ...agent] };
}

function environmentArguments(): string[] {
  const all = Object.entries(sessionEnvironment(guestScratch));
  return all.flatMap(([name, value]) => ['--setenv', name, value]);
}

function linkTo(launch: () => Promise<Launch>, plan: ForkServerOptions['plan']): LinkOptions {
  const limits = { ...defaultLimits, wallSeconds: 30 };
  return {
    limits,
    running: new Permits(4, 100),
    onExecution: () => {},
    onViolation: () => {},
    server: {
      plan,
      sessionsPerServer: 1,
      isolation: {
        ...{ id: 'micro-vm', kernel: 'separate', ownsProcesses: true, layers: [] },
        launch,
      },
      config: {
        ...{ limits, maxSessions: 4, seed: 0, fontCache: null, layers: [] },
        ...{ forbidden: defaultForbidden, prelude: defaultPrelude },
        ...{ uidBase: usersOfOwnKernel.base, readable: plan.interpreter.directories },
        ...{ ownsUsers: true, sharesUser: false, forksWithin: false },
      },
    },
  };
}

function ownFolders(): string[] {
  const ours = new RegExp(`^saccade-(machine|snapshot)-\\d+-${process.pid}-`);
  return readdirSync(tmpdir()).filter((name) => ours.test(name));
}

/** Numbers and command lines of processes that were started with this word. */
export function processesWith(word: string): string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(word) ? [`${name} ${line}`] : [];
    } catch {
      return []; // it is gone
    }
  });
}
