/** Jobs of a cluster: commands that outlive the terminal they were started in, each with a log. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ConfigError, StateError } from '@saccade/core';
import { identifyProcess, isRunning, type ProcessIdentity } from '@saccade/core/processes';
import { z } from '@saccade/core/settings';
import { MARK } from './plan.ts';
import { signal, waitUntil } from './processes.ts';
import type { Environment } from './python.ts';
import { type ClusterPaths, writeWhole } from './state.ts';

const stored = z.object({
  name: z.string(),
  command: z.array(z.string()),
  cwd: z.string(),
  log: z.string(),
  process: z.object({ pid: z.number(), started: z.string().nullable() }),
  began: z.number(),
});

/** A job as it is now. */
export interface Job extends z.output<typeof stored> {
  /** `lost`: it is gone without an exit status, killed most likely. */
  readonly state: 'running' | 'finished' | 'failed' | 'lost';
  /** Exit status, once there is one. */
  readonly status?: number;
}

/** A command to run. */
export interface JobRequest {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly environment: Environment;
}

/**
 * The shell waits for the command and writes down its exit status. Signals of the group are the
 * command's; the shell only notes them.
 */
const KEEPER =
  'trap : INT TERM HUP; "$@"; status=$?; printf %s "$status" > "$0.new" && mv "$0.new" "$0"';

/** Starts a job of a cluster. */
export function startJob(paths: ClusterPaths, clusterId: string, request: JobRequest): Job {
  const { command, cwd, environment } = request;
  const numbers = jobFiles(paths).map((file) => Number(/(\d+)\.json$/.exec(file)?.[1] ?? 0));
  const name = `job-${Math.max(0, ...numbers) + 1}`;
  const log = join(paths.logs, `${name}.log`);
  const output = openSync(log, 'a');
  const child = spawn('/bin/sh', ['-c', KEEPER, statusFile(paths, name), ...command], {
    cwd,
    // A group of its own: it goes on when the terminal is gone, and can be signaled whole.
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...environment, [MARK]: clusterId },
  });
  closeSync(output);
  child.unref();
  const process = identifyProcess(child.pid ?? 0);
  const job = { name, command: [...command], cwd, log, process, began: Date.now() / 1000 };
  writeWhole(join(paths.jobs, `${name}.json`), job);
  return { ...job, state: 'running' };
}

/** All jobs of a cluster, in the order in which they were started. */
export function listJobs(paths: ClusterPaths): readonly Job[] {
  return jobFiles(paths)
    .map((file) => stored.safeParse(JSON.parse(readFileSync(file, 'utf8'))))
    .flatMap(({ success, data }) => (success ? [{ ...data, ...outcomeOf(paths, data) }] : []))
    .sort((a, b) => a.began - b.began);
}

/** A job by its name. @throws ConfigError if there is none */
export function findJob(paths: ClusterPaths, name: string): Job {
  const jobs = listJobs(paths);
  const found = jobs.find((job) => job.name === name);
  if (found !== undefined) return found;
  const known =
    jobs.length === 0 ? 'There are none yet.' : `Known: ${jobs.map((j) => j.name).join(', ')}.`;
  throw new ConfigError('job', `There is no job ${name}. ${known}`);
}

/**
 * Stops a job as Ctrl-C does, so that it can save what it has.
 *
 * @param seconds after which it is killed
 * @throws StateError if it does not run
 */
export async function stopJob(paths: ClusterPaths, name: string, seconds: number): Promise<Job> {
  const job = findJob(paths, name);
  if (job.state !== 'running') {
    throw new StateError(
      `${name} does not run: it ${job.state === 'lost' ? 'was lost' : `has ${job.state}`}.`,
    );
  }
  await end(job.process, seconds);
  return findJob(paths, name);
}

/** Stops all jobs that run. @returns their names */
export async function endJobs(paths: ClusterPaths, seconds: number): Promise<readonly string[]> {
  const running = listJobs(paths).filter(({ state }) => state === 'running');
  await Promise.all(running.map((job) => end(job.process, seconds)));
  return running.map(({ name }) => name);
}

async function end(process: ProcessIdentity, seconds: number): Promise<void> {
  signal(-process.pid, 'SIGINT');
  if (await waitUntil(() => !isRunning(process), seconds)) return;
  signal(-process.pid, 'SIGKILL');
  await waitUntil(() => !isRunning(process), seconds);
}

function outcomeOf(
  paths: ClusterPaths,
  { name, process }: z.output<typeof stored>,
): Pick<Job, 'state' | 'status'> {
  const read = (): number | undefined => {
    const file = statusFile(paths, name);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  };
  // Asked in this order: it may end between the two questions.
  const isLiving = isRunning(process);
  const status = read();
  if (status !== undefined) return { state: status === 0 ? 'finished' : 'failed', status };
  return { state: isLiving ? 'running' : 'lost' };
}

function statusFile({ jobs }: ClusterPaths, name: string): string {
  return join(jobs, `${name}.status`);
}

function jobFiles({ jobs }: ClusterPaths): readonly string[] {
  if (!existsSync(jobs)) return [];
  return readdirSync(jobs)
    .filter((file) => /^job-\d+\.json$/.test(basename(file)))
    .map((file) => join(jobs, file));
}
