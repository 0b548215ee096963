/** The sandbox, the task set and the environments of a run: what its tasks are played with. */
import { type EventSink, StateError, spanElsewhere } from '@saccade/core';
import {
  createToolEnv,
  inEpochs,
  type Protocol,
  type TaskSet,
  type TaskSetContext,
} from '@saccade/gym';
import type { RunParts, WorkMeter } from '@saccade/loop';
import { type MakeEnv, withSlowTools } from '@saccade/rollout';
import type { Sandbox } from '@saccade/sandbox';
import { type OpenTools, openTools } from '@saccade/tools';
import { hubOf } from './hub.ts';
import { meteredSandbox } from './metered-sandbox.ts';
import { chosenTools, protocolOf, protocolWith } from './protocol-of.ts';
import type { ResolvedRun } from './run-config.ts';
import { secret } from './secret.ts';
import { required, settingsOf } from './unit-settings.ts';

/** The options for opening a run's units. */
export interface OpenOptions {
  /** The interpreter of the sandbox; asked for only where code runs on this machine. */
  readonly python: () => Promise<string>;
  readonly onEvent: EventSink;
  /** The run's directory. */
  readonly directory: string;
}

/** The parts of a run that must be open to play its tasks, without a policy. */
export interface Playground
  extends Pick<RunParts, 'taskSet' | 'protocol' | 'makeEnv' | 'makeEvaluationEnv'> {
  readonly sandbox: Sandbox;
  dispose(): Promise<void>;
}

/**
 * The task set of a run, opened.
 *
 * @throws StateError if it needs a sandbox and there is none
 */
export async function openTaskSet(
  { config, units }: ResolvedRun,
  context: Partial<TaskSetContext>,
): Promise<TaskSet> {
  const tasks = required(units.taskSet).with(settingsOf(config.taskSet));
  const sandbox = context.sandbox ?? noSandbox;
  return (await tasks.open?.({ ...context, sandbox })) ?? tasks;
}

/** Stands where tasks are read without a run. */
const noSandbox: Sandbox = {
  tier: 'none',
  open: async () => {
    throw new StateError('This task set needs a sandbox, and only a run has one.');
  },
  stats: () => ({ open: 0, waiting: 0, started: 0, executions: 0 }),
  dispose: async () => {},
};

/** Opens the sandbox of a run; whoever opens it disposes of it. */
export async function openSandboxOf(
  run: ResolvedRun,
  { python, onEvent }: Pick<OpenOptions, 'python' | 'onEvent'>,
): Promise<Sandbox> {
  const { config, units } = run;
  const options = {
    python,
    onEvent,
    wallSeconds: protocolOf(run).executionSeconds ?? 10,
    // An evaluation beside rollouts that wait with their sessions open needs as many again.
    sessions: 2 * config.rollout.concurrency,
  };
  const unit = required(units.sandbox);
  return await spanElsewhere('sandbox/open', async () =>
    unit.open(settingsOf(config.sandbox), options),
  );
}

/**
 * Opens the sandbox, the task set and the environments of a run.
 *
 * @param options `sandbox`: one that is open already, and stays open; `adapt`: changes the protocol;
 *   `work`: counts what environments of training use
 */
export async function openPlayground(
  run: ResolvedRun,
  options: Pick<OpenOptions, 'python' | 'onEvent'> & {
    readonly sandbox?: Sandbox;
    readonly adapt?: (protocol: Protocol) => Protocol;
    readonly work?: WorkMeter;
  },
): Promise<Playground> {
  const { config } = run;
  const { python, onEvent } = options;
  const sandbox = options.sandbox ?? (await openSandboxOf(run, options));
  const closeSandbox = async (): Promise<void> => {
    if (options.sandbox === undefined) await sandbox.dispose();
  };
  const chosen = chosenTools(run);
  let tools: OpenTools | undefined;
  try {
    tools = chosen && (await openTools(chosen, { python, onEvent, secret }));
    const { adapt = (given: Protocol) => given } = options;
    const protocol = adapt(protocolWith(run, tools?.tools));
    const hub = { ...hubOf(process.env), onEvent };
    const taskSet = await openTaskSet(run, { sandbox, hub, onEvent });
    const { slowShare: share, slowSeconds: seconds } = config.rollout;
    const envMaker = (budgets: Protocol['budgets'], used: Sandbox): MakeEnv => {
      return () => {
        const env = createToolEnv({ protocol, sandbox: used, budgets });
        return share > 0 ? withSlowTools(env, { seed: config.seed, share, seconds }) : env;
      };
    };
    const { work } = options;
    const counted = work === undefined ? sandbox : meteredSandbox(sandbox, work);
    return {
      sandbox,
      taskSet: inEpochs(taskSet, config.seed),
      protocol,
      makeEnv: envMaker(protocol.budgets, counted),
      makeEvaluationEnv: envMaker(protocol.evaluationBudgets ?? protocol.budgets, sandbox),
      async dispose() {
        await taskSet.dispose?.();
        await tools?.dispose();
        await closeSandbox();
      },
    };
  } catch (error) {
    await tools?.dispose();
    await closeSandbox();
    throw error;
  }
}
