/** Starts a cluster: writes its plan, starts its supervisor, and waits until every part is healthy. */
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, type EventSink, StateError } from '@saccade/core';
import { identifyProcess, isRunning, type ProcessIdentity } from '@saccade/core/processes';
import { type ClusterFile, isOpen } from './cluster-file.ts';
import { endCluster } from './end-cluster.ts';
import { lastLines } from './logs.ts';
import { type ClusterPlan, MARK, planCluster } from './plan.ts';
import { checkPython, type Environment, pythonEnvironment } from './python.ts';
import { type ClusterPaths, type ClusterState, pathsOf, readState, writeWhole } from './state.ts';

/** What starting a cluster takes. */
export interface StartOptions {
  readonly file: ClusterFile;
  /** Folder of clusters. */
  readonly folder: string;
  /** The command that starts saccade, with its first arguments. */
  readonly saccade: readonly string[];
  /** Folder of the package saccade_worker, where it is not installed. */
  readonly workerFolder?: string;
  readonly environment: Environment;
  readonly onEvent?: EventSink;
  /** Gives up waiting, and ends what was started. */
  readonly signal?: AbortSignal;
}

/** A cluster that is up. */
export interface StartedCluster {
  readonly paths: ClusterPaths;
  readonly state: ClusterState;
  /** False where it was up already. */
  readonly isNew: boolean;
}

const LOOK_MS = 250;

/**
 * Starts a cluster and returns when every part is healthy. Whatever goes wrong, nothing is left running.
 *
 * @throws MissingError without Python, Ray or torch; ConfigError if another cluster of this name is up;
 *   StateError if a part does not start
 */
export async function startCluster(options: StartOptions): Promise<StartedCluster> {
  const { file, folder } = options;
  const paths = pathsOf(folder, file.name);
  mkdirSync(paths.logs, { recursive: true });
  const unlock = lock(join(paths.directory, 'up.lock'), file.name);
  try {
    const running = runningCluster(paths);
    if (running !== undefined) {
      if (isDeepStrictEqual(readFile(paths), JSON.parse(JSON.stringify(file)))) {
        return { paths, state: running, isNew: false };
      }
      throw new ConfigError(
        'file',
        `A cluster ${file.name} is up from another file. End it with \`saccade cluster down\`, or ` +
          'choose another name with --name.',
      );
    }
    const { python } = file.ray;
    await checkPython({ ...options, python }, file.worker !== undefined);
    // What a supervisor left that was killed would hold ports and processors.
    await endCluster(paths);
    return { paths, state: await start(options, paths), isNew: true };
  } finally {
    unlock();
  }
}

/** The state of a cluster whose supervisor runs; undefined where none does. */
export function runningCluster(paths: ClusterPaths): ClusterState | undefined {
  const state = readState(paths);
  const isUp = state !== undefined && state.phase !== 'ended' && isRunning(state.supervisor);
  return isUp ? state : undefined;
}

/** The cluster file that a cluster was started with. */
function readFile({ directory }: ClusterPaths): unknown {
  try {
    return JSON.parse(readFileSync(join(directory, 'cluster.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

async function start(options: StartOptions, paths: ClusterPaths): Promise<ClusterState> {
  const { file, environment, saccade } = options;
  const id = randomUUID();
  const plan = planCluster(file, {
    ...{ id, saccade, directory: paths.directory },
    ...(isOpen(file) && { token: randomBytes(32).toString('hex') }),
  });
  rmSync(paths.state, { force: true });
  writeWhole(join(paths.directory, 'cluster.json'), file);
  writeWhole(paths.plan, plan);
  const log = join(paths.logs, 'supervisor.log');
  const output = openSync(log, 'a');
  const { python } = file.ray;
  const child = spawn(python, ['-m', 'saccade_worker.cluster', paths.plan], {
    // Ctrl-C of the terminal that started it is not for it.
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...pythonEnvironment({ ...options, python }), ...environmentMark(id) },
  });
  closeSync(output);
  // A Python that went since it was looked at; the wait below finds no process.
  child.once('error', () => {});
  child.unref();
  const supervisor = identifyProcess(child.pid ?? 0);
  // Known before it has written anything, so that `down` finds it at once.
  writeWhole(join(paths.directory, 'supervisor.json'), supervisor);
  try {
    return await untilUp(options, paths, plan, supervisor);
  } catch (error) {
    await endCluster(paths);
    throw error;
  }

  function environmentMark(mark: string): Record<string, string> {
    return { PATH: environment.PATH ?? '', [MARK]: mark };
  }
}

async function untilUp(
  { file, onEvent, signal }: StartOptions,
  paths: ClusterPaths,
  plan: ClusterPlan,
  supervisor: ProcessIdentity,
): Promise<ClusterState> {
  let told = '';
  for (;;) {
    signal?.throwIfAborted();
    const state = readState(paths);
    const healthy = state?.parts.filter((part) => part.state === 'healthy') ?? [];
    const waiting = state?.parts.filter((part) => part.state !== 'healthy') ?? [];
    const note = waiting.map((part) => `${part.name} ${part.state}`).join(', ') || 'starting Ray';
    if (note !== told) {
      told = note;
      onEvent?.({
        ...{ kind: 'progress', stage: 'cluster', done: healthy.length, total: plan.parts.length },
        ...(state?.phase !== 'up' && { note }),
      });
    }
    if (state?.phase === 'up') return state;
    if (state?.phase === 'failed') throw notStarted(file.name, paths, state);
    if (!isRunning(supervisor)) {
      const log = join(paths.logs, 'supervisor.log');
      const said = lastLines(log, 1)[0] ?? 'it said nothing';
      throw new StateError(`The supervisor of cluster ${file.name} ended: ${said}. See ${log}.`);
    }
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
}

function notStarted(name: string, paths: ClusterPaths, state: ClusterState): StateError {
  const bad = state.parts.find((part) => part.state === 'failed');
  const said = bad?.lastLine ? ` It said: ${bad.lastLine}` : '';
  const log = bad?.log ?? join(paths.logs, 'supervisor.log');
  const reason = (state.reason ?? 'no reason was given').replace(/\.$/, '');
  return new StateError(`Cluster ${name} did not start: ${reason}.${said} See ${log}.`);
}

/** Keeps two starts of one cluster apart. @returns what lets the next one in */
function lock(path: string, name: string): () => void {
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(path, JSON.stringify(identifyProcess(process.pid)), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 0) throw error;
      if (isHeld(path)) {
        throw new StateError(
          `Cluster ${name} is being started by another command. Wait for it, or end it with Ctrl-C.`,
        );
      }
      rmSync(path, { force: true });
    }
  }
}

function isHeld(path: string): boolean {
  try {
    const { pid, started } = JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
    return isRunning({ pid, started });
  } catch {
    return false;
  }
}
