/** One running fork server: its process, its frames, its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { messageOf } from '@saccade/core';
import {
  type MemoryGroups,
  makeMemoryGroups,
  makeShareGroups,
  removeMemoryGroups,
  removeShareGroups,
  type ShareGroups,
} from './control-groups.ts';
import { SandboxError } from './errors.ts';
import type { IsolationReport } from './guarantees.ts';
import type { Isolation, Launch, LaunchPlan, Snapshot } from './isolation.ts';
import { makeTemporary, removeTree, sweepTemporaries } from './temporary.ts';
import { decodeHeader, encodeFrame, type Frame, FrameReader } from './wire.ts';

export interface ServerIdentity {
  readonly python: string;
  readonly libraries: Readonly<Record<string, string>>;
  readonly report: IsolationReport;
}

export interface ForkServerOptions {
  readonly isolation: Isolation;
  readonly plan: Omit<LaunchPlan, 'memoryGroups' | 'shareGroups'>;
  /** The first message to the server, completed here with the places it is to use. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Start from this instead of from nothing. */
  readonly warm?: WarmStart;
  /** Sessions that the server will have in its life; undefined where that is not fixed. */
  readonly sessionsPerServer?: number;
}

/** A saved server, and what it said when it was ready. */
export interface WarmStart {
  readonly snapshot: Snapshot;
  readonly identity: ServerIdentity;
}

const usualStartSeconds = 60;
const stopMilliseconds = 3_000;
const keptStderr = 4_096;

/** A server that has answered `ready`. */
export class ForkServer {
  readonly identity: ServerIdentity;
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #socket: Socket;
  readonly #launch: Launch;
  readonly #ended: Promise<void>;
  #isAlive = true;

  private constructor(running: Running, socket: Socket, identity: ServerIdentity, launch: Launch) {
    this.#launch = launch;
    this.#process = running.process;
    this.#socket = socket;
    this.#ended = running.ended.then(() => {
      this.#isAlive = false;
    });
    this.pid = running.process.pid ?? 0;
    this.identity = identity;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Resolves when the process is gone and its files are removed. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /**
   * Starts a server and waits until it is ready.
   *
   * @param onFrame  called for every later frame, in order
   * @throws SandboxError with what the server said, if it does not become ready
   */
  static async start(
    options: ForkServerOptions,
    onFrame: (frame: Frame) => void,
  ): Promise<ForkServer> {
    const { isolation, plan, warm } = options;
    const { python } = plan.interpreter;
    await sweepTemporaries(python);
    const groups = await makeGroups(isolation);
    let launch: Launch;
    try {
      launch = await (warm?.snapshot.launch() ?? isolation.launch({ ...plan, ...groups }));
    } catch (error) {
      await removeGroups(groups);
      throw error;
    }
    if (warm !== undefined) {
      return await ForkServer.#startWarm(run(launch, groups, python, onFrame), launch, warm);
    }
    const canary = await placeCanary();
    const { scratch, mountPoint = null } = launch;
    const running = run(launch, groups, python, onFrame);
    try {
      const places = { scratch, mountPoint, ...placesOfGroups(groups, launch) };
      const config = { ...options.config, ...places, ...canary.config };
      const socket = await running.channel;
      for (const piece of encodeFrame(0, config)) socket.write(piece);
      const ready = await running.ready;
      return new ForkServer(running, socket, readIdentity(ready, launch, options), launch);
    } catch (error) {
      running.process.kill('SIGKILL');
      await running.ended;
      throw error;
    } finally {
      await canary.remove();
    }
  }

  /** A saved server was ready before: it only has to answer. */
  static async #startWarm(
    running: Running,
    launch: Launch,
    { identity }: WarmStart,
  ): Promise<ForkServer> {
    try {
      await Promise.race([launch.begin?.(), running.ended]);
      const socket = await running.channel;
      for (const piece of encodeFrame(0, { type: 'ping', id: 0 })) socket.write(piece);
      await running.ready;
      return new ForkServer(running, socket, identity, launch);
    } catch (error) {
      running.process.kill('SIGKILL');
      await running.ended;
      throw error;
    }
  }

  /**
   * Saves this server, which must have no sessions, for others to start from, and ends it.
   *
   * @returns undefined where what isolates it cannot save it
   * @throws SandboxError if it should have been able to
   */
  async freeze(): Promise<WarmStart | undefined> {
    const snapshot = await this.#launch.freeze?.();
    if (snapshot === undefined) return undefined;
    this.#socket.destroy();
    this.kill();
    await this.#ended;
    return { snapshot, identity: this.identity };
  }

  send(session: number, header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]): void {
    if (!this.#isAlive || this.#socket.destroyed) return;
    this.#socket.cork();
    for (const piece of encodeFrame(session, header, blobs)) this.#socket.write(piece);
    this.#socket.uncork();
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Lets the server end its sessions and remove their files; kills it if that takes too long. */
  async stop(): Promise<void> {
    this.#socket.end();
    if (this.#launch.connect !== undefined) this.kill();
    const timer = setTimeout(() => this.kill(), stopMilliseconds);
    await this.#ended;
    clearTimeout(timer);
  }
}

interface Groups {
  readonly memoryGroups: MemoryGroups;
  readonly shareGroups: ShareGroups;
}

/** The machine's groups cannot tell the processes of another kernel apart: then there are none. */
async function makeGroups({ id, kernel = 'shared' }: Isolation): Promise<Groups> {
  if (kernel !== 'shared') {
    const none = { obstacle: `The tier "${id}" has no control groups of this machine.` };
    return { memoryGroups: none, shareGroups: { cpu: none, io: none } };
  }
  const memoryGroups = await makeMemoryGroups();
  return { memoryGroups, shareGroups: await makeShareGroups(memoryGroups) };
}

async function removeGroups({ memoryGroups, shareGroups }: Groups): Promise<void> {
  await Promise.all([removeMemoryGroups(memoryGroups), removeShareGroups(shareGroups)]);
}

/** The groups as the server sees them. */
function placesOfGroups(
  { memoryGroups, shareGroups }: Groups,
  { memoryFolder, shareFolder, memoryGroups: inside }: Launch,
): { readonly memoryGroups: object; readonly shareGroups: object } {
  const isElsewhere = memoryFolder !== undefined && 'folder' in memoryGroups;
  const shares = Object.entries(shareGroups).map(([name, group]) => {
    const isMoved = shareFolder !== undefined && 'folder' in group;
    return [name, isMoved ? { folder: `${shareFolder}/${name}` } : group] as const;
  });
  const moved = isElsewhere ? { ...memoryGroups, folder: memoryFolder } : memoryGroups;
  return {
    memoryGroups: inside ?? moved,
    shareGroups: Object.fromEntries(shares),
  };
}

interface Running {
  readonly process: ChildProcess;
  readonly channel: Promise<Socket>;
  readonly ready: Promise<Frame>;
  readonly ended: Promise<void>;
}

function run(
  launch: Launch,
  groups: Groups,
  python: string,
  onFrame: (frame: Frame) => void,
): Running {
  const { command, args, env, temporary, startSeconds = usualStartSeconds } = launch;
  const child = spawn(command, args, {
    env: { ...env },
    stdio: ['ignore', 'ignore', 'pipe', launch.connect === undefined ? 'pipe' : 'ignore'],
  });
  const reader = new FrameReader();
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-keptStderr);
  });
  let onReady: ((frame: Frame) => void) | undefined;
  let onFailure: ((error: Error) => void) | undefined;
  const ready = new Promise<Frame>((resolve, reject) => {
    onReady = resolve;
    onFailure = reject;
  });
  ready.catch(() => {}); // reported by whoever awaits it
  const fail = (fact: string): void => {
    const said = stderr.trim();
    onFailure?.(new SandboxError(said === '' ? fact : `${fact}: ${said}`));
  };
  const timer = setTimeout(() => {
    fail(`The sandbox's server was not ready after ${startSeconds} s`);
  }, startSeconds * 1000);
  const onData = (chunk: Buffer): void => {
    let frames: Frame[];
    try {
      frames = reader.push(chunk);
    } catch (error) {
      fail(`The sandbox's server broke the protocol (${messageOf(error)})`);
      child.kill('SIGKILL');
      return;
    }
    for (const frame of frames) {
      if (onReady === undefined) onFrame(frame);
      else {
        onReady(frame);
        onReady = undefined;
        clearTimeout(timer);
      }
    }
  };
  const ending = new AbortController();
  const channel = openChannel(launch, child, () => stderr.trim(), ending.signal).then((socket) => {
    socket.on('data', onData);
    socket.on('error', () => {}); // the end of the process tells
    return socket;
  });
  channel.catch(() => {}); // reported by whoever awaits it
  const ended = new Promise<void>((resolve) => {
    let isOver = false;
    const finish = (fact: string): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      fail(fact);
      ending.abort();
      channel.then((socket) => socket.destroy()).catch(() => {});
      const removed = temporary === undefined ? undefined : removeTree(temporary, python);
      const own = launch.processGroups ?? { obstacle: '' };
      resolve(Promise.all([removed, removeGroups(groups), removeMemoryGroups(own)]).then(() => {}));
    };
    child.on('error', (error) => finish(`The sandbox's server did not start (${error.message})`));
    // `close` and not `exit`: frames and messages still in the pipes come first.
    child.on('close', (code, signal) => {
      finish(`The sandbox's server ended (${signal ?? `status ${code}`})`);
    });
  });
  return { process: child, channel, ready, ended };
}

async function openChannel(
  launch: Launch,
  child: ChildProcess,
  said: () => string,
  ended: AbortSignal,
): Promise<Socket> {
  if (launch.connect === undefined) return child.stdio[3] as Socket;
  return await launch.connect({ ended, said, kill: () => void child.kill('SIGKILL') });
}

interface Canary {
  readonly config: { readonly canaryFile: string; readonly canaryPort: number };
  remove(): Promise<void>;
}

/** A file and a port of the host, for the server to try to reach. */
async function placeCanary(): Promise<Canary> {
  const folder = await makeTemporary('canary');
  await chmod(folder, 0o755);
  const canaryFile = join(folder, 'file');
  await writeFile(canaryFile, 'visible');
  const listener: Server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const canaryPort = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    config: { canaryFile, canaryPort },
    remove: async () => {
      await new Promise((resolve) => listener.close(resolve));
      await removeTree(folder);
    },
  };
}

function readIdentity(
  frame: Frame,
  launch: Launch,
  { isolation, sessionsPerServer }: ForkServerOptions,
): ServerIdentity {
  const header = decodeHeader(frame) as Readonly<Record<string, unknown>>;
  if (header.type !== 'ready') {
    throw new SandboxError(`The sandbox's server said ${String(header.type)}, expected "ready".`);
  }
  const identity = header as unknown as Omit<ServerIdentity, 'report'> & {
    readonly report: Omit<IsolationReport, 'kernel' | 'hasOwnServer'> & {
      readonly bootId?: string;
    };
  };
  const { bootId, ...report } = identity.report;
  const { kernel = isolation.kernel ?? 'shared', kernelObstacle } = launch;
  // Whatever the tier says: the kernel that has this machine's number is this machine's.
  const found = kernel !== 'shared' && bootId === ownBootId() ? 'shared' : kernel;
  const facts = { kernel: found, hasOwnServer: sessionsPerServer === 1 };
  const obstacle = kernelObstacle === undefined ? {} : { kernelObstacle };
  const machine = launch.machine === undefined ? {} : { machine: launch.machine };
  return { ...identity, report: { ...report, ...facts, ...obstacle, ...machine } };
}

/** The number that a kernel gives itself when it starts; empty where there is none. */
function ownBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
