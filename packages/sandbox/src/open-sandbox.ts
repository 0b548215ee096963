/** Opens a sandbox: checks what it is given and starts the fork server in the chosen isolation. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError, type EventSink, MissingError } from '@saccade/core';
import { startChosen } from './choose-isolation.ts';
import { defaultForbidden, defaultPrelude } from './forbidden.ts';
import type { ForkServerOptions } from './fork-server.ts';
import type { Requirements } from './guarantees.ts';
import type { Isolation, MicroVmOptions } from './isolation.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { LocalSandbox } from './local-sandbox.ts';
import { Permits } from './permits.ts';
import { fontCacheName, pythonSources } from './python-environment.ts';
import { inspectPython, type PythonInterpreter } from './python-interpreter.ts';
import { type LinkOptions, ServerLink } from './server-link.ts';
import { defaultRecycle, type Recycle, ServerPool } from './server-pool.ts';
import { SpareServers } from './spare-servers.ts';
import type { LocalTier } from './tiers.ts';
import { chooseUsers, type SessionUsers, usersOfOwnKernel } from './users.ts';
import { maxFrameBytes } from './wire.ts';

/** Options of `openSandbox`. Every one has a default. */
export interface SandboxOptions {
  /** Interpreter with numpy, pillow and matplotlib; see `ensurePython`. Default `python3`. */
  readonly python?: string;
  readonly limits?: Partial<Limits>;
  /** The tier to use. `auto`, the default, takes the strongest that holds when it is attacked. */
  readonly isolation?: LocalTier | 'auto';
  /** Required guarantees; a machine that gives less gets an error that names what is missing. */
  readonly require?: Requirements;
  /** Sessions at a time; more wait. Default 256. */
  readonly maxSessions?: number;
  /** Executions at a time; more wait, outside their time limits. Default twice the processors. */
  readonly maxRunning?: number;
  /** Calls that may wait for a session, and as many for a processor; more are refused. Default 16,384. */
  readonly maxQueued?: number;
  /**
   * Fork servers at a time, to open sessions on several processors at once; with `sessionsPerServer`,
   * servers that wait, ready, for a session. Default 1.
   */
  readonly servers?: number;
  /**
   * Sessions that a server has before it ends with the last of them. Default 1 in the tiers `gvisor`
   * and `micro-vm`, where every session then has a kernel for itself, and no limit elsewhere.
   */
  readonly sessionsPerServer?: number;
  /** The programs that run the machines of the tier `micro-vm`. */
  readonly microVm?: MicroVmOptions;
  /** When a fork server is replaced though it works. */
  readonly recycle?: Partial<Recycle>;
  /**
   * Allows what is refused otherwise: the tier `process`, which isolates nothing, and in it, where
   * there is no other user to be, submitted code running as root.
   */
  readonly unsafe?: boolean;
  /** Seed of Python's `random` and numpy's legacy generator in every session. Default 0. */
  readonly seed?: number;
  /** Names that code is refused for; see `defaultForbidden`. */
  readonly forbidden?: readonly string[];
  /** Python run once; its globals are every session's. See `defaultPrelude`. */
  readonly prelude?: string;
  /** Receives warnings, e.g. that nothing is isolated. */
  readonly onEvent?: EventSink;
}

/** All sessions' files together, in memory under bubblewrap. */
const scratchBytes = 1024 ** 3;
/** Room for what the server itself puts beside them: videos, and the libraries' caches. */
const inputBytes = 256 * 2 ** 20;

/**
 * Starts the fork server and returns when it is ready for sessions.
 *
 * @throws MissingError if Python, its libraries or a demanded bubblewrap is missing
 * @throws UnsupportedError if no isolation holds, or not the demanded one
 * @throws RequirementError if the isolation gives less than `require` names
 * @throws ConfigError for limits out of range
 */
export async function openSandbox(options: SandboxOptions = {}): Promise<LocalSandbox> {
  const limits = checkLimits(options.limits ?? {});
  const interpreter = await inspectPython(options.python ?? 'python3');
  const missing = ['numpy', 'pillow', 'matplotlib'].filter((n) => !(n in interpreter.libraries));
  if (missing.length > 0) {
    throw new MissingError(
      `Python at ${interpreter.python} has no ${missing.join(', ')}. Pass the interpreter that ` +
        'ensurePython(directory) makes, or install them.',
    );
  }
  const maxQueued = positive('maxQueued', options.maxQueued ?? 16_384);
  const request: Request = {
    options,
    limits,
    interpreter,
    maxSessions: positive('maxSessions', options.maxSessions ?? 256),
    running: new Permits(
      positive('maxRunning', options.maxRunning ?? 2 * availableParallelism()),
      maxQueued,
    ),
    maxQueued,
  };
  const sandbox = await startChosen({
    wanted: options.isolation ?? 'auto',
    required: options.require ?? {},
    unsafe: options.unsafe ?? false,
    limits,
    users: chooseUsers(),
    python: interpreter.python,
    start: (isolation, users, warnings) => start(request, isolation, users, warnings),
  });
  for (const message of sandbox.warnings) options.onEvent?.({ kind: 'warning', message });
  return sandbox;
}

interface Request {
  readonly options: SandboxOptions;
  readonly limits: Limits;
  readonly interpreter: PythonInterpreter;
  readonly maxSessions: number;
  readonly maxQueued: number;
  readonly running: Permits;
}

async function start(
  request: Request,
  isolation: Isolation,
  given: SessionUsers,
  warnings: readonly string[],
): Promise<LocalSandbox> {
  // Another kernel has users of its own, whoever we are.
  const users = isolation.kernel === undefined ? given : usersOfOwnKernel;
  const { interpreter, limits, options, maxSessions, maxQueued, running } = request;
  const { sessionsPerServer = isolation.sessionsPerServer } = options;
  if (sessionsPerServer !== undefined) positive('sessionsPerServer', sessionsPerServer);
  const fonts = join(dirname(dirname(interpreter.python)), fontCacheName);
  const server: ForkServerOptions = {
    isolation,
    plan: {
      interpreter,
      sources: pythonSources,
      socketNumber: 3,
      hasUsers: users.base !== null,
      scratchBytes:
        sessionsPerServer === undefined
          ? scratchBytes
          : sessionsPerServer * limits.diskBytes + inputBytes,
      diskBytes: (sessionsPerServer ?? 1) * limits.diskBytes,
      memoryBytes: (sessionsPerServer ?? 1) * limits.sessionMemoryBytes,
      ...(options.microVm === undefined ? {} : { microVm: options.microVm }),
    },
    ...(sessionsPerServer === undefined ? {} : { sessionsPerServer }),
    config: {
      limits,
      maxSessions,
      seed: options.seed ?? 0,
      forbidden: options.forbidden ?? defaultForbidden,
      prelude: options.prelude ?? defaultPrelude,
      fontCache: existsSync(fonts) ? fonts : null,
      uidBase: users.base,
      layers: isolation.layers,
      readable: interpreter.directories,
      ownsUsers: isolation.ownsProcesses || users.isExclusive,
      // Processes of the same user outside the sandbox count against its sessions' limit.
      sharesUser: !isolation.ownsProcesses,
      // Elsewhere no process can have children that are its parent's.
      forksWithin: process.platform !== 'linux',
    },
  };
  const counters = { executions: 0, violations: 0 };
  const link: LinkOptions = {
    server,
    limits,
    running,
    onExecution: () => {
      counters.executions += 1;
    },
    onViolation: () => {
      counters.violations += 1;
    },
  };
  const most = positive('servers', options.servers ?? 1);
  const parts = { maxSessions, maxQueued, counters, warnings };
  if (sessionsPerServer === undefined) {
    const first = await ServerLink.start(link);
    const recycle = { ...defaultRecycle, ...options.recycle };
    const servers = new ServerPool({ link, first, servers: most, maxSessions, recycle });
    return new LocalSandbox({ ...parts, link, first, servers });
  }
  const { warmed, first, removeSnapshot } = await startWarm(link);
  const pool = { link: warmed, first, spares: most, sessionsPerServer, removeSnapshot };
  return new LocalSandbox({ ...parts, link: warmed, first, servers: new SpareServers(pool) });
}

interface WarmPool {
  readonly warmed: LinkOptions;
  readonly first: ServerLink;
  removeSnapshot(): Promise<void>;
}

/** The first server loads and is attacked; where it can be saved, all others are copies of it. */
async function startWarm(link: LinkOptions): Promise<WarmPool> {
  const original = await ServerLink.start(link);
  const warm = await original.freeze();
  if (warm === undefined) {
    return { warmed: link, first: original, removeSnapshot: async () => {} };
  }
  const warmed = { ...link, server: { ...link.server, warm } };
  try {
    const first = await ServerLink.start(warmed);
    return { warmed, first, removeSnapshot: () => warm.snapshot.remove() };
  } catch (error) {
    await warm.snapshot.remove();
    throw error;
  }
}

function positive(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new ConfigError(field, `${field} must be a whole number above 0, got ${value}.`);
}

/** Less is not enough to start a session in. */
const leastSessionMemory = 32 * 2 ** 20;

function checkLimits(given: Partial<Limits>): Limits {
  const { memoryBytes, diskBytes } = { ...defaultLimits, ...given };
  const limits = { ...defaultLimits, sessionMemoryBytes: memoryBytes + diskBytes, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) continue;
    throw new ConfigError(`limits.${name}`, `limits.${name} must be above 0, got ${value}.`);
  }
  if (limits.sessionMemoryBytes < leastSessionMemory) {
    throw new ConfigError(
      'limits.sessionMemoryBytes',
      `limits.sessionMemoryBytes must be at least ${leastSessionMemory}, got ${limits.sessionMemoryBytes}.`,
    );
  }
  const mostVideo = maxFrameBytes - 2 ** 16;
  if (limits.videoBytes > mostVideo) {
    throw new ConfigError(
      'limits.videoBytes',
      `limits.videoBytes must be at most ${mostVideo}, got ${limits.videoBytes}.`,
    );
  }
  return limits;
}
