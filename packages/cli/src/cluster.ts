/** `saccade cluster`: a worker, engines and sandboxes on Ray, here or on a cluster. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type ClusterPaths,
  collectMetrics,
  endCluster,
  findCluster,
  findJob,
  followLog,
  type Job,
  lastLines,
  listLogs,
  logFile,
  readClusterFile,
  runningCluster,
  startCluster,
  startJob,
  stopJob,
  tokenOf,
  trainingSettings,
} from '@saccade/cluster';
import { StateError } from '@saccade/core';
import { clusterRows, describeCluster, isWell, lookAtCluster } from './cluster-status.ts';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { INTERRUPTED } from './shared.ts';
import { printTable } from './table.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ClusterFlags {
  readonly clusters: string;
  readonly name?: string;
  readonly json?: boolean;
}

/** This installation's command; nodes of a cluster see it at the same path, or the file names theirs. */
const BIN = join(import.meta.dirname, '../bin/saccade.js');
/** The worker of a clone; elsewhere it is installed with pip. */
const WORKER = join(import.meta.dirname, '../../../workers/torch');
const STOP_SECONDS = 120;

export interface UpFlags extends ClusterFlags {
  readonly local?: boolean;
  readonly python?: string;
}

export async function bringUp(path: string, flags: UpFlags): Promise<void> {
  const { name, local = false, python, clusters } = flags;
  const file = readClusterFile(path, {
    isLocal: local,
    ...(name !== undefined && { name }),
    ...(python !== undefined && { python }),
  });
  const interruption = new AbortController();
  const onSignal = (): void =>
    interruption.abort(new StateError('Ctrl-C: nothing was left running.'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const { paths, isNew } = await startCluster({
      ...{ file, folder: clusters, saccade: [process.execPath, BIN], environment: process.env },
      ...(existsSync(WORKER) && { workerFolder: WORKER }),
      onEvent: terminalProgress({ stream: process.stderr }),
      signal: interruption.signal,
    });
    const shown = lookAtCluster(paths);
    if (flags.json) return printJson({ ...shown, isNew });
    say(isNew ? describeCluster(shown) : `Nothing to do: ${describeCluster(shown)}`);
    printTable(clusterRows(shown));
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

export function showStatus(flags: ClusterFlags): void {
  const shown = lookAtCluster(findCluster(flags.clusters, flags.name));
  if (!isWell(shown)) process.exitCode = 1;
  if (flags.json) {
    printJson(shown);
    return;
  }
  say(describeCluster(shown));
  if (shown.parts.length + shown.jobs.length > 0) printTable(clusterRows(shown));
}

export interface SubmitFlags extends ClusterFlags {
  readonly set?: readonly string[];
  readonly seed?: number;
  readonly steps?: number;
  readonly out?: string;
  readonly config?: string;
  readonly follow: boolean;
}

export async function submitRecipe(recipe: string, flags: SubmitFlags): Promise<void> {
  const { seed, steps, out, config, set = [] } = flags;
  const paths = findCluster(flags.clusters, flags.name);
  const state = runningCluster(paths);
  if (state === undefined) throw notUp(paths);
  const { settings, variables } = trainingSettings(paths, state);
  const given = Object.entries({ seed, steps, out, config }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  const job = startJob(paths, state.id, {
    command: [
      ...[process.execPath, BIN, 'train', recipe, ...given],
      ...[...settings, ...set].flatMap((setting) => ['--set', setting]),
    ],
    cwd: process.cwd(),
    environment: { ...process.env, ...variables },
  });
  if (!flags.follow) {
    if (flags.json) return printJson(job);
    return say(`${job.name} runs. Follow it with: saccade cluster logs ${job.name} --follow`);
  }
  await followJob(paths, job, flags.json === true ? process.stderr : process.stdout);
  if (flags.json) printJson(findJob(paths, job.name));
}

/** Shows a job's log until it ends; its exit status becomes this command's. */
async function followJob(
  paths: ClusterPaths,
  { name, log }: Job,
  stream: NodeJS.WriteStream,
): Promise<void> {
  const following = new AbortController();
  const onSignal = (): void => following.abort();
  process.once('SIGINT', onSignal);
  const isOver = (): boolean => findJob(paths, name).state !== 'running';
  const onText = (text: string): void => void stream.write(text);
  await followLog(log, { from: 0, onText, isOver, signal: following.signal });
  process.off('SIGINT', onSignal);
  const { state, status: exitStatus = 1 } = findJob(paths, name);
  if (following.signal.aborted && state === 'running') {
    console.error(
      `\n${name} goes on. Follow it with: saccade cluster logs ${name} --follow\n` +
        `Stop it with: saccade cluster stop ${name}`,
    );
    process.exitCode = INTERRUPTED;
    return;
  }
  if (state === 'lost') throw new StateError(`${name} was killed. Its log is ${log}.`);
  process.exitCode = exitStatus;
}

export async function stopSubmitted(name: string, flags: ClusterFlags): Promise<void> {
  const paths = findCluster(flags.clusters, flags.name);
  const { log } = await stopJob(paths, name, STOP_SECONDS);
  say(`${name} has stopped. ${lastLines(log, 1)[0] ?? ''}`.trim());
}

export interface LogFlags extends ClusterFlags {
  readonly lines: number;
  readonly follow?: boolean;
}

export async function showLogs(parts: readonly string[], flags: LogFlags): Promise<void> {
  const paths = findCluster(flags.clusters, flags.name);
  const names = parts.length > 0 ? parts : listLogs(paths);
  const files = names.map((name) => ({ name, file: logFile(paths, name) }));
  const prefix = (name: string): string => (names.length > 1 ? `${name.padEnd(12)} ` : '');
  for (const { name, file } of files) {
    for (const line of lastLines(file, flags.lines)) console.log(prefix(name) + line);
  }
  if (flags.follow !== true) return;
  const following = new AbortController();
  process.once('SIGINT', () => following.abort());
  await Promise.all(
    files.map(({ name, file }) => {
      let rest = '';
      const onText = (text: string): void => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) console.log(prefix(name) + line);
      };
      return followLog(file, { onText, signal: following.signal });
    }),
  );
}

export async function showMetrics(flags: ClusterFlags): Promise<void> {
  const paths = findCluster(flags.clusters, flags.name);
  const state = runningCluster(paths);
  if (state === undefined) throw notUp(paths);
  process.stdout.write(await collectMetrics(state, tokenOf(paths)));
}

function notUp({ directory }: ClusterPaths): StateError {
  const file = join(directory, 'cluster.json');
  const name = basename(directory);
  const again = existsSync(file) ? `saccade cluster up ${file}` : 'saccade cluster up cluster.yaml';
  return new StateError(`Cluster ${name} is not up. Start it with: ${again}`);
}

export async function takeDown(flags: ClusterFlags): Promise<void> {
  const paths = findCluster(flags.clusters, flags.name);
  const name = basename(paths.directory);
  const report = await endCluster(paths);
  if (flags.json) return printJson({ name, ...report });
  if (!report.wasUp) return say(`Cluster ${name} was down already.`);
  const jobs = report.jobs.length === 0 ? '' : ` ${report.jobs.join(', ')} stopped.`;
  const rest =
    report.leftovers === 0
      ? ''
      : ` Its supervisor was gone, and ${report.leftovers} processes were ended one by one.`;
  say(`Cluster ${name} is down.${jobs}${rest} Logs stay in ${paths.logs}.`);
}
