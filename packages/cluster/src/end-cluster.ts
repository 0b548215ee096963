/** Ends a cluster: its jobs, then its supervisor with all parts, then whatever should be left. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, type ProcessIdentity } from '@saccade/core/processes';
import { endJobs } from './jobs.ts';
import { findMarked, signal, waitUntil } from './processes.ts';
import { type ClusterPaths, type ClusterState, readState, writeWhole } from './state.ts';

/** What an end came to. */
export interface EndReport {
  /** Whether anything was running. */
  readonly wasUp: boolean;
  /** Jobs that were stopped. */
  readonly jobs: readonly string[];
  /** Processes that had to be ended one by one, because their supervisor could not. */
  readonly leftovers: number;
}

/** Beyond the grace of the parts: placement groups are removed, and Ray ends. */
const RAY_SECONDS = 30;
const DEFAULT_GRACE_SECONDS = 30;
const LEFTOVER_SECONDS = 5;

/** Ends a cluster, whatever state it is in; a second call finds nothing to do. */
export async function endCluster(paths: ClusterPaths): Promise<EndReport> {
  const { id, graceSeconds } = readPlan(paths);
  const jobs = await endJobs(paths, graceSeconds);
  const supervisor = findSupervisor(paths);
  const wasRunning = supervisor !== undefined && isRunning(supervisor);
  if (wasRunning) {
    signal(supervisor.pid, 'SIGTERM');
    const hasEnded = await waitUntil(() => !isRunning(supervisor), graceSeconds + RAY_SECONDS);
    if (!hasEnded) signal(supervisor.pid, 'SIGKILL');
  }
  const leftovers = id === undefined ? 0 : await endMarked(id);
  const state = stateOf(paths);
  if (state !== undefined && state.phase !== 'ended') {
    const parts = state.parts.map((part) => ({ ...part, state: 'ended' as const, pids: [] }));
    writeWhole(paths.state, { ...state, parts, phase: 'ended', written: Date.now() / 1000 });
  }
  return { wasUp: wasRunning || leftovers > 0 || jobs.length > 0, jobs, leftovers };
}

/** Processes that carry the cluster's mark: SIGTERM, then SIGKILL. @returns how many there were */
async function endMarked(id: string): Promise<number> {
  const found = findMarked(id);
  for (const { pid } of found) signal(pid, 'SIGTERM');
  const areGone = (): boolean => findMarked(id).length === 0;
  if (await waitUntil(areGone, LEFTOVER_SECONDS)) return found.length;
  for (const { pid } of findMarked(id)) signal(pid, 'SIGKILL');
  await waitUntil(areGone, LEFTOVER_SECONDS);
  return found.length;
}

function readPlan({ plan }: ClusterPaths): {
  readonly id?: string;
  readonly graceSeconds: number;
} {
  const { id, limits } = readJson<{ id: string; limits: { grace_seconds: number } }>(plan) ?? {};
  const graceSeconds = limits?.grace_seconds ?? DEFAULT_GRACE_SECONDS;
  return { graceSeconds, ...(id !== undefined && { id }) };
}

/** The supervisor as its starter wrote it down, or as it did itself. */
function findSupervisor(paths: ClusterPaths): ProcessIdentity | undefined {
  return (
    readJson<ProcessIdentity>(join(paths.directory, 'supervisor.json')) ??
    stateOf(paths)?.supervisor
  );
}

/** A damaged state must not keep a cluster from being ended. */
function stateOf(paths: ClusterPaths): ClusterState | undefined {
  try {
    return readState(paths);
  } catch {
    return undefined;
  }
}

function readJson<Value>(path: string): Value | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Value;
  } catch {
    return undefined;
  }
}
