/** The state of a cluster in words: a row for every part and job. */
import {
  type ClusterPaths,
  type ClusterState,
  type Job,
  lastLines,
  listJobs,
  readState,
  runningCluster,
} from '@saccade/cluster';
import { formatDuration } from './terminal-progress.ts';

/** A part, as `--json` has it. */
interface ShownPart {
  readonly name: string;
  readonly state: string;
  readonly forSeconds: number;
  readonly url: string | null;
  readonly nodes: readonly string[];
  readonly pids: readonly number[];
  readonly restarts: number;
  readonly reason: string | null;
  readonly log: string;
  readonly lastLine: string;
}

/** A cluster, as `--json` has it. */
export interface ShownCluster {
  readonly name: string;
  readonly directory: string;
  /** `down` where the supervisor is gone without having ended the parts. */
  readonly phase: ClusterState['phase'] | 'down' | 'unknown';
  readonly reason: string | null;
  readonly forSeconds: number;
  readonly supervisorPid: number | null;
  readonly ray: ClusterState['ray'] | null;
  readonly parts: readonly ShownPart[];
  readonly jobs: readonly (Job & { readonly lastLine: string })[];
}

/** What is known of a cluster. */
export function lookAtCluster(paths: ClusterPaths, now = Date.now() / 1000): ShownCluster {
  const state = readState(paths);
  const jobs = listJobs(paths).map((job) => ({ ...job, lastLine: lastLines(job.log, 1)[0] ?? '' }));
  const { directory } = paths;
  const name = directory.split('/').at(-1) ?? '';
  const nothing = { reason: null, forSeconds: 0, supervisorPid: null, ray: null, parts: [] };
  if (state === undefined) return { name, directory, phase: 'unknown', ...nothing, jobs };
  const isGone = state.phase !== 'ended' && runningCluster(paths) === undefined;
  return {
    ...{ name, directory, jobs, ray: state.ray, reason: state.reason },
    phase: isGone ? 'down' : state.phase,
    forSeconds: Math.max(0, now - state.began),
    supervisorPid: isGone || state.phase === 'ended' ? null : state.supervisor.pid,
    parts: state.parts.map((part) => ({
      ...{ name: part.name, url: part.url, nodes: part.nodes, pids: part.pids },
      ...{ restarts: part.restarts, reason: part.reason, log: part.log },
      // Nobody looks after it any more, and nobody knows.
      state: isGone ? 'unknown' : part.state,
      forSeconds: Math.max(0, now - part.since),
      lastLine: part.lastLine,
    })),
  };
}

/** Whether a cluster is as it should be. */
export function isWell({ phase, parts }: ShownCluster): boolean {
  return phase === 'up' && parts.every(({ state }) => state === 'healthy');
}

/** One sentence on the whole. */
export function describeCluster(shown: ShownCluster): string {
  const { name, phase, reason, forSeconds, ray, parts } = shown;
  const healthy = parts.filter(({ state }) => state === 'healthy').length;
  const why = reason === null ? '' : ` ${reason.replace(/\.?$/, '.')}`;
  const end = `End what is left with: saccade cluster down --name ${name}`;
  switch (phase) {
    case 'unknown':
      return `Cluster ${name} was not started, or did not get far. ${end}`;
    case 'down':
      return `Cluster ${name} has lost its supervisor. ${end}`;
    case 'ended':
      return `Cluster ${name} is down. Its logs are in ${shown.directory}/logs.`;
    case 'failed':
      return `Cluster ${name} has a part that was given up:${why}`;
    default:
      return (
        `Cluster ${name} is ${phase}, begun ${formatDuration(forSeconds)} ago: ` +
        `${healthy} of ${parts.length} parts healthy, Ray ${ray?.version} at ${ray?.address ?? '–'}.`
      );
  }
}

/** Rows of a table: parts, then jobs. */
export function clusterRows({ parts, jobs }: ShownCluster): readonly (readonly string[])[] {
  const clock = Date.now() / 1000;
  return [
    ['part', 'state', 'for', 'address', 'restarts', 'last line'],
    ...parts.map((part) => [
      ...[part.name, part.state, formatDuration(part.forSeconds), part.url ?? '–'],
      ...[String(part.restarts), describeLast(part)],
    ]),
    ...jobs.map((job) => [
      job.name,
      job.status === undefined || job.status === 0 ? job.state : `${job.state} (${job.status})`,
      formatDuration(clock - job.began),
      ...['–', '–', job.lastLine],
    ]),
  ];
}

function describeLast({ state, reason, lastLine }: ShownPart): string {
  const said = lastLine.replace(/^\S+T\S+ /, '');
  const isBad = reason !== null && state !== 'healthy';
  return isBad ? [reason, said].filter((text) => text !== '').join('; ') : said;
}
