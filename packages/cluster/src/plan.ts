/** What the supervisor is told: parts with their commands, groups with their strategies, limits. */
import { type ClusterFile, isOpen } from './cluster-file.ts';

/** A role in a cluster; parts of one share a placement group. */
export type Group = 'worker' | 'engines' | 'sandboxes';

/** One part of a plan, as the supervisor reads it. */
export interface PartPlan {
  readonly name: string;
  readonly group: Group;
  readonly ranks: number;
  readonly bundle: Readonly<Record<string, number>>;
  /** `{python}`, `{host}` and `{port}` stand for what the node has. */
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly port: number;
  readonly health: string;
  readonly metrics: string;
  readonly is_distributed: boolean;
}

/** The plan of a cluster, as the supervisor reads it. */
export interface ClusterPlan {
  readonly id: string;
  readonly name: string;
  readonly directory: string;
  readonly address: string | null;
  readonly cpus: number;
  readonly gpus: number;
  readonly host: string;
  readonly token: string | null;
  readonly strategies: Readonly<Record<Group, string>>;
  readonly limits: Readonly<Record<string, number>>;
  readonly parts: readonly PartPlan[];
}

/** What a plan needs besides the file. */
export interface PlanContext {
  readonly id: string;
  /** Folder of the cluster: state, logs, checkpoints. */
  readonly directory: string;
  /** The command that starts saccade, with its first arguments. */
  readonly saccade: readonly string[];
  /** The secret of a cluster that other machines reach. */
  readonly token?: string;
}

/** Environment variable by which processes of a cluster are known. */
export const MARK = 'SACCADE_CLUSTER_ID';

/** Ranks near each other for their collectives, engines and sandboxes apart for their losses. */
const strategies = { worker: 'PACK', engines: 'SPREAD', sandboxes: 'SPREAD' } as const;

/** Makes the plan of a cluster file. */
export function planCluster(file: ClusterFile, context: PlanContext): ClusterPlan {
  const { ray, limits } = file;
  const parts = [
    ...workerOf(file, context),
    ...enginesOf(file, context),
    ...sandboxesOf(file, context),
  ];
  const total = (kind: string): number =>
    parts.reduce((sum, { bundle, ranks }) => sum + ranks * (bundle[kind] ?? 0), 0);
  return {
    id: context.id,
    name: file.name,
    directory: context.directory,
    address: ray.address ?? null,
    cpus: Math.max(1, Math.ceil(total('CPU'))),
    gpus: Math.ceil(total('GPU')),
    host: isOpen(file) ? '0.0.0.0' : '127.0.0.1',
    token: context.token ?? null,
    strategies,
    limits: {
      placement_seconds: limits.placementSeconds,
      start_seconds: limits.startSeconds,
      hang_seconds: limits.hangSeconds,
      grace_seconds: limits.graceSeconds,
      most_restarts: limits.maxRestarts,
    },
    parts,
  };
}

function workerOf({ worker }: ClusterFile, context: PlanContext): readonly PartPlan[] {
  if (worker === undefined) return [];
  return [
    {
      ...{ name: 'worker', group: 'worker', ranks: worker.ranks, port: worker.port },
      bundle: bundleOf(worker),
      command: [
        ...['{python}', '-m', 'saccade_worker', '--model', hubNameOf(worker.model)],
        ...['--host', '{host}', '--port', '{port}'],
        ...['--checkpoints', `${context.directory}/checkpoints`, ...worker.options],
      ],
      variables: {
        ...variablesOf(worker.variables, context, 'SACCADE_WORKER_TOKEN'),
        // It gives the engines their weights itself.
        ...(context.token !== undefined && { SACCADE_ENGINE_TOKEN: context.token }),
      },
      ...{ health: '/api/v1/healthz', metrics: '/metrics', is_distributed: true },
    },
  ];
}

function enginesOf({ engines, saccade }: ClusterFile, context: PlanContext): readonly PartPlan[] {
  if (engines?.model === undefined) return [];
  const { kind, options } = engines;
  const model = hubNameOf(engines.model);
  const listening = ['--host', '{host}', '--port', '{port}'];
  const own = saccade === undefined ? context.saccade : [saccade];
  const [command, extra, token] = {
    saccade: [
      [...own, 'serve', 'policy', model, ...listening],
      [],
      'SACCADE_POLICY_TOKEN',
    ] as const,
    // Log-probs of what was sampled, and weights that can be reloaded: see @saccade/policy.
    vllm: [
      ['vllm', 'serve', model, ...listening, '--logprobs-mode', 'processed_logprobs'],
      ['VLLM_SERVER_DEV_MODE=1', 'VLLM_BATCH_INVARIANT=1'],
      'VLLM_API_KEY',
    ] as const,
    sglang: [
      [
        ...['{python}', '-m', 'sglang.launch_server', '--model-path', model, ...listening],
        ...(context.token === undefined ? [] : ['--api-key', context.token]),
      ],
      [],
      'SGLANG_API_KEY',
    ] as const,
  }[kind];
  return Array.from({ length: engines.count }, (_, index) => ({
    ...{ name: `engine-${index}`, group: 'engines', ranks: 1, bundle: bundleOf(engines) },
    command: [...command, ...options],
    variables: variablesOf([...extra, ...engines.variables], context, token),
    port: engines.port === 0 ? 0 : engines.port + index,
    ...{ health: '/health', metrics: '/metrics', is_distributed: false },
  }));
}

function sandboxesOf(
  { sandboxes, saccade }: ClusterFile,
  context: PlanContext,
): readonly PartPlan[] {
  if (sandboxes === undefined) return [];
  const own = saccade === undefined ? context.saccade : [saccade];
  return Array.from({ length: sandboxes.count }, (_, index) => ({
    ...{ name: `sandbox-${index}`, group: 'sandboxes', ranks: 1, bundle: bundleOf(sandboxes) },
    command: [...own, 'serve', 'sandbox', '--host', '{host}', '--port', '{port}'].concat(
      sandboxes.options,
    ),
    variables: variablesOf(sandboxes.variables, context, 'SACCADE_SANDBOX_TOKEN'),
    port: sandboxes.port === 0 ? 0 : sandboxes.port + index,
    ...{ health: '/health', metrics: '/metrics', is_distributed: false },
  }));
}

function bundleOf({ cpus, gpus = 0 }: { readonly cpus: number; readonly gpus?: number }) {
  return { ...(cpus > 0 && { CPU: cpus }), ...(gpus > 0 && { GPU: gpus }) };
}

function variablesOf(
  given: readonly string[],
  { id, token }: PlanContext,
  tokenName: string,
): Readonly<Record<string, string>> {
  const pairs = given.map((one) => {
    const at = one.indexOf('=');
    return [one.slice(0, at), one.slice(at + 1)] as const;
  });
  return {
    ...Object.fromEntries(pairs),
    [MARK]: id,
    ...(token !== undefined && { [tokenName]: token }),
  };
}

/** Programs of others take a hub's names without our prefix. */
function hubNameOf(model: string): string {
  return model.replace(/^hf:/, '');
}
