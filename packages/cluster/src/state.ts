/** The state of a cluster on disk, written by its supervisor, and where everything of it is. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DataError, messageOf, StateError } from '@saccade/core';
import { z } from '@saccade/core/settings';

const part = z.object({
  name: z.string(),
  group: z.enum(['worker', 'engines', 'sandboxes']),
  ranks: z.number(),
  state: z.enum(['placing', 'starting', 'healthy', 'unhealthy', 'restarting', 'failed', 'ended']),
  /** Seconds since 1970 at which it came into this state. */
  since: z.number(),
  /** Why it is not healthy, or was lost last, as a clause. */
  reason: z.string().nullable(),
  url: z.string().nullable(),
  health: z.string(),
  metrics: z.string(),
  nodes: z.array(z.string()),
  /** Process numbers of its ranks on their nodes. */
  pids: z.array(z.number()),
  restarts: z.number(),
  log: z.string(),
  lastLine: z.string(),
});

const state = z.object({
  format: z.literal(1),
  id: z.string(),
  name: z.string(),
  phase: z.enum(['starting', 'up', 'degraded', 'failed', 'ending', 'ended']),
  reason: z.string().nullable(),
  began: z.number(),
  written: z.number(),
  supervisor: z.object({ pid: z.number(), started: z.string().nullable() }),
  ray: z.object({
    version: z.string(),
    address: z.string().nullable(),
    session: z.string().optional(),
  }),
  parts: z.array(part),
});

/** A part as its supervisor saw it last. */
export type PartState = z.output<typeof part>;

/** A cluster as its supervisor saw it last. */
export type ClusterState = z.output<typeof state>;

/** Files of a cluster. */
export interface ClusterPaths {
  readonly directory: string;
  readonly state: string;
  readonly plan: string;
  readonly logs: string;
  readonly jobs: string;
  /** Targets for `file_sd_configs` of Prometheus. */
  readonly targets: string;
}

/** Where a cluster of this name has its files. */
export function pathsOf(folder: string, name: string): ClusterPaths {
  const directory = join(resolve(folder), name);
  return {
    directory,
    state: join(directory, 'state.json'),
    plan: join(directory, 'plan.json'),
    logs: join(directory, 'logs'),
    jobs: join(directory, 'jobs'),
    targets: join(directory, 'prometheus.json'),
  };
}

/**
 * Finds a cluster by its name; without one, the only one that there is.
 *
 * @throws StateError if there is none, or more than one
 */
export function findCluster(folder: string, name?: string): ClusterPaths {
  const all = clustersOf(folder);
  const start = 'Start one with: saccade cluster up cluster.yaml';
  if (name !== undefined) {
    if (all.includes(name)) return pathsOf(folder, name);
    const known = all.length === 0 ? '' : ` Known: ${all.join(', ')}.`;
    throw new StateError(`There is no cluster ${name} in ${resolve(folder)}.${known} ${start}`);
  }
  const [first, second] = all;
  if (first === undefined)
    throw new StateError(`There is no cluster in ${resolve(folder)}. ${start}`);
  if (second === undefined) return pathsOf(folder, first);
  throw new StateError(
    `There are several clusters in ${resolve(folder)}: ${all.join(', ')}. Choose one with --name.`,
  );
}

function clustersOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'plan.json')))
    .sort();
}

/**
 * Reads the state that a supervisor wrote last; undefined before it wrote any.
 *
 * @throws DataError if the file is damaged
 */
export function readState({ state: path }: ClusterPaths): ClusterState | undefined {
  if (!existsSync(path)) return undefined;
  const remedy = 'End what is left with: saccade cluster down';
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DataError(`${path} is not JSON: ${messageOf(error)}. ${remedy}`, { cause: error });
  }
  const { success, data, error } = state.safeParse(value);
  if (success) return data;
  const field = error.issues[0]?.path.join('.') ?? '';
  throw new DataError(`${path} is no state of a cluster: ${field} is not valid. ${remedy}`);
}

/** Writes a file that appears whole or not at all; only its owner can read it. */
export function writeWhole(path: string, value: unknown): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}
