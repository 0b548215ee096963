/** Opens a sandbox: picks the isolation by trying it, and says what was picked and why. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import {
  ConfigError,
  type EventSink,
  MissingError,
  messageOf,
  UnsupportedError,
} from '@saccade/core';
import { SandboxError } from './errors.ts';
import { defaultForbidden, defaultPrelude } from './forbidden.ts';
import type { ForkServerOptions } from './fork-server.ts';
import type { Isolation } from './isolation.ts';
import { bubblewrapIsolation } from './isolations/bubblewrap.ts';
import { processIsolation } from './isolations/process.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { LocalSandbox } from './local-sandbox.ts';
import { Permits } from './permits.ts';
import { fontCacheName, pythonSources } from './python-environment.ts';
import { inspectPython, type PythonInterpreter } from './python-interpreter.ts';
import { type LinkOptions, ServerLink } from './server-link.ts';
import { chooseUsers, type SessionUsers } from './users.ts';

export interface SandboxOptions {
  /** Interpreter with numpy, pillow and matplotlib; see `ensurePython`. Default `python3`. */
  readonly python?: string;
  readonly limits?: Partial<Limits>;
  /** `auto` takes bubblewrap where it works, else plain processes, with a warning. */
  readonly isolation?: 'auto' | 'bubblewrap' | 'process';
  /** Sessions at a time; more wait. Default 256. */
  readonly maxSessions?: number;
  /** Executions at a time; more wait, outside their time limits. Default twice the processors. */
  readonly maxRunning?: number;
  /** Allows what is refused otherwise: submitted code running as the system's real root. */
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

/**
 * Starts the fork server and returns when it is ready for sessions.
 *
 * @throws MissingError if Python, its libraries or a demanded bubblewrap is missing
 * @throws UnsupportedError if a demanded isolation does not hold, or code would run as root
 * @throws ConfigError for limits out of range
 */
export async function openSandbox(options: SandboxOptions = {}): Promise<LocalSandbox> {
  const limits = checkLimits({ ...defaultLimits, ...options.limits });
  const interpreter = await inspectPython(options.python ?? 'python3');
  const missing = ['numpy', 'pillow', 'matplotlib'].filter((n) => !(n in interpreter.libraries));
  if (missing.length > 0) {
    throw new MissingError(
      `Python at ${interpreter.python} has no ${missing.join(', ')}. Pass the interpreter that ` +
        'ensurePython(directory) makes, or install them.',
    );
  }
  const request: Request = {
    options,
    limits,
    interpreter,
    users: chooseUsers(),
    maxSessions: positive('maxSessions', options.maxSessions ?? 256),
    running: new Permits(positive('maxRunning', options.maxRunning ?? 2 * availableParallelism())),
  };
  const { sandbox, warnings } = await startBest(request);
  for (const message of warnings) options.onEvent?.({ kind: 'warning', message });
  return sandbox;
}

interface Request {
  readonly options: SandboxOptions;
  readonly limits: Limits;
  readonly interpreter: PythonInterpreter;
  readonly users: SessionUsers;
  readonly maxSessions: number;
  readonly running: Permits;
}

async function startBest(
  request: Request,
): Promise<{ sandbox: LocalSandbox; warnings: readonly string[] }> {
  const wanted = request.options.isolation ?? 'auto';
  const warnings: string[] = [];
  if (wanted !== 'process') {
    try {
      return { sandbox: await startIsolated(request), warnings };
    } catch (error) {
      if (wanted === 'bubblewrap') throw error;
      warnings.push(`bubblewrap is not usable here: ${messageOf(error)}`);
    }
  }
  const sandbox = await startProcess(request, warnings);
  return { sandbox, warnings };
}

/** @throws UnsupportedError if bubblewrap runs but does not keep its promise */
async function startIsolated(request: Request): Promise<LocalSandbox> {
  const sandbox = await start(request, bubblewrapIsolation, request.users, []);
  const { failure, seesHostFiles, reachesNetwork, writesSystem, readsLibraries } = sandbox.report;
  const broken = [
    failure,
    seesHostFiles && 'code sees files of the host',
    reachesNetwork && 'code reaches the network',
    writesSystem && 'code can write kernel settings',
    !failure && !readsLibraries && 'code cannot read the Python libraries',
  ].filter((fact) => typeof fact === 'string');
  if (broken.length === 0) return sandbox;
  await sandbox.dispose();
  throw new UnsupportedError(
    `bubblewrap starts but does not isolate: ${broken.join('; ')}. Check the machine's ` +
      'namespaces settings, or use isolation "process".',
  );
}

async function startProcess(request: Request, warnings: string[]): Promise<LocalSandbox> {
  if (processIsolation.warning !== undefined) warnings.push(processIsolation.warning);
  const sandbox = await start(request, processIsolation, request.users, warnings);
  const { uid, failure, readsLibraries } = sandbox.report;
  const isRoot = uid === 0 && request.users.isKernelRoot;
  if (failure === undefined && readsLibraries && !isRoot) return sandbox;
  await sandbox.dispose();
  const why = isRoot
    ? 'there is no other user to run it as'
    : `another user cannot ${failure === undefined ? 'read the Python libraries' : `start (${failure})`}`;
  if (request.users.base === null && !isRoot) {
    throw new SandboxError(`The sandbox cannot run code: ${failure ?? why}.`);
  }
  if (request.options.unsafe !== true) {
    throw new UnsupportedError(
      `Without bubblewrap, submitted code would run as root: ${why}. Install bubblewrap, run as ` +
        `an ordinary user, or move ${request.interpreter.python} to where all users can read it. ` +
        '`unsafe: true` runs it as root nevertheless.',
    );
  }
  warnings.push('Submitted code runs as root, because `unsafe` is set.');
  return await start(request, processIsolation, { ...request.users, base: null }, warnings);
}

async function start(
  request: Request,
  isolation: Isolation,
  users: SessionUsers,
  warnings: readonly string[],
): Promise<LocalSandbox> {
  const { interpreter, limits, options, maxSessions, running } = request;
  const fonts = join(dirname(dirname(interpreter.python)), fontCacheName);
  const server: ForkServerOptions = {
    isolation,
    plan: {
      interpreter,
      sources: pythonSources,
      socketNumber: 3,
      hasUsers: users.base !== null,
      scratchBytes,
    },
    config: {
      limits,
      maxSessions,
      seed: options.seed ?? 0,
      forbidden: options.forbidden ?? defaultForbidden,
      prelude: options.prelude ?? defaultPrelude,
      fontCache: existsSync(fonts) ? fonts : null,
      uidBase: users.base,
      ownsUsers: isolation.ownsProcesses || users.isExclusive,
      // Processes of the same user outside the sandbox count against its sessions' limit.
      sharesUser: !isolation.ownsProcesses,
    },
  };
  const counters = { executions: 0 };
  const link: LinkOptions = {
    server,
    limits,
    running,
    onExecution: () => {
      counters.executions += 1;
    },
  };
  const first = await ServerLink.start(link);
  return new LocalSandbox({ link, first, maxSessions, counters, warnings });
}

function positive(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new ConfigError(field, `${field} must be a whole number above 0, got ${value}.`);
}

function checkLimits(limits: Limits): Limits {
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) continue;
    throw new ConfigError(`limits.${name}`, `limits.${name} must be above 0, got ${value}.`);
  }
  return limits;
}
