/** The settings by which a recipe trains on a cluster: which learner, which engine, which sandboxes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StateError } from '@saccade/core';
import type { ClusterFile } from './cluster-file.ts';
import type { ClusterPlan, Group } from './plan.ts';
import type { ClusterPaths, ClusterState, PartState } from './state.ts';

/** Settings and secrets of a run on a cluster. */
export interface TrainingSettings {
  /** `path=value`, as `saccade train --set` takes them. */
  readonly settings: readonly string[];
  /** Environment variables with the cluster's secret; empty where it needs none. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The secret of a cluster that other machines reach; undefined where there is none. */
export function tokenOf({ plan }: ClusterPaths): string | undefined {
  return (JSON.parse(readFileSync(plan, 'utf8')) as ClusterPlan).token ?? undefined;
}

/**
 * Points a recipe at the parts of a cluster; what the cluster lacks stays as the recipe has it.
 *
 * @throws StateError if a part that is needed is not healthy
 */
export function trainingSettings(paths: ClusterPaths, state: ClusterState): TrainingSettings {
  const file = JSON.parse(
    readFileSync(join(paths.directory, 'cluster.json'), 'utf8'),
  ) as ClusterFile;
  const token = tokenOf(paths);
  const [worker] = healthyOf(state, 'worker');
  const engines = healthyOf(state, 'engines');
  const sandboxes = healthyOf(state, 'sandboxes');
  const settings = [
    ...(worker && file.worker
      ? ['model=remote', `model.baseUrl=${worker.url}`, `model.from=${file.worker.model}`]
      : []),
    ...(worker && token ? ['model.keyVariable=SACCADE_WORKER_TOKEN'] : []),
    ...(engines.length > 0 ? ['engine=http', `engine.baseUrl=${addresses(engines)}`] : []),
    ...(engines.length > 0 && token ? ['engine.keyVariable=SACCADE_POLICY_TOKEN'] : []),
    ...(sandboxes.length > 0 ? ['sandbox=remote', `sandbox.hosts=${addresses(sandboxes)}`] : []),
  ];
  const names = ['SACCADE_WORKER_TOKEN', 'SACCADE_POLICY_TOKEN', 'SACCADE_SANDBOX_TOKEN'];
  const variables = token === undefined ? [] : names.map((name) => [name, token] as const);
  return { settings, variables: Object.fromEntries(variables) };
}

const addresses = (parts: readonly PartState[]): string => parts.map(({ url }) => url).join(',');

/** The parts of a group that can be used; sandboxes and engines may lack some, workers none. */
function healthyOf(state: ClusterState, group: Group): readonly PartState[] {
  const all = state.parts.filter((part) => part.group === group);
  const healthy = all.filter((part) => part.state === 'healthy');
  const [first] = all;
  if (first === undefined || healthy.length > 0) return healthy;
  throw new StateError(
    `${first.name} is ${first.state}${first.reason ? `: it ${first.reason}` : ''}. Wait until ` +
      '`saccade cluster status` says healthy, or see `saccade cluster logs`.',
  );
}
