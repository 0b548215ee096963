/** Opens suites for a model: task sets, environments and scoring, with the sandboxes they share. */
import { ConfigError, type EventSink } from '@saccade/core';
import type { OpenSuite } from '@saccade/eval';
import { withPrompting } from '@saccade/rollout/chat-player';
import type { Sandbox } from '@saccade/sandbox';
import { scoringPartsOf } from '../parts.ts';
import { openPlayground, openSandboxOf } from '../playground.ts';
import { protocolOf } from '../protocol-of.ts';
import type { ResolvedRun } from '../run-config.ts';
import { findSuites } from './find-suites.ts';
import { type ResolvedSuite, resolveSuite } from './suite-input.ts';

/** What suites are opened with. */
export interface SuiteContext {
  /** The interpreter of the sandbox; asked for only where code runs on this machine. */
  readonly python: () => Promise<string>;
  readonly onEvent: EventSink;
  /** Where judges keep their grades. */
  readonly directory: string;
  /** A sandbox that is open already, of this run; suites that can share it do, and leave it open. */
  readonly shared?: { readonly run: ResolvedRun; readonly sandbox: Sandbox };
}

/** Suites that are open, and what only their owner closes. */
export interface OpenSuites {
  readonly suites: readonly OpenSuite[];
  dispose(): Promise<void>;
}

/**
 * Opens suites. Those with the same sandbox and the same time limit share one.
 *
 * @throws ConfigError if a task set has fewer tasks than asked for
 */
export async function openSuites(
  resolved: readonly ResolvedSuite[],
  context: SuiteContext,
): Promise<OpenSuites> {
  const { shared } = context;
  const sandboxes = new Map<string, Promise<Sandbox>>();
  const opened: OpenSuite[] = [];
  const dispose = async (): Promise<void> => {
    for (const suite of opened) await suite.dispose();
    for (const sandbox of sandboxes.values()) await (await sandbox).dispose();
  };
  const sandboxOf = (run: ResolvedRun): Promise<Sandbox> => {
    const key = keyOf(run);
    if (shared !== undefined && keyOf(shared.run) === key) return Promise.resolve(shared.sandbox);
    const sandbox = sandboxes.get(key) ?? openSandboxOf(run, context);
    sandboxes.set(key, sandbox);
    return sandbox;
  };
  try {
    for (const one of resolved) {
      opened.push(await openSuite(one, await sandboxOf(one.run), context));
    }
    return { suites: opened, dispose };
  } catch (error) {
    await dispose().catch(() => {});
    throw error;
  }
}

/** Runs with one key can share a sandbox. */
const keyOf = (run: ResolvedRun): string =>
  JSON.stringify([run.config.sandbox, protocolOf(run).executionSeconds]);

/**
 * The suites that a run's own evaluations play, resolved: `evaluation.suites`.
 *
 * @throws ConfigError for a name that is not known
 */
export async function suitesOfRun(run: ResolvedRun): Promise<readonly ResolvedSuite[]> {
  const { suites, suiteTasks, suiteSamples } = run.config.evaluation;
  if (suites.length === 0) return [];
  const common = [
    { path: 'tasks', value: suiteTasks },
    { path: 'k', value: suiteSamples },
  ];
  return (await findSuites(suites)).map((suite) => resolveSuite(run, suite, { common }));
}

async function openSuite(
  { suite, settings, run, prompting }: ResolvedSuite,
  sandbox: Sandbox,
  context: SuiteContext,
): Promise<OpenSuite> {
  const { config } = run;
  const playground = await openPlayground(run, {
    ...context,
    sandbox,
    adapt: (protocol) => withPrompting(protocol, prompting),
  });
  try {
    const { taskSet, makeEvaluationEnv, protocol } = playground;
    const { scoring, judges } = scoringPartsOf(run, context.directory);
    const { terms: _, ...rules } = scoring;
    const size = taskSet.size(suite.split);
    if (size === 0) {
      throw new ConfigError(
        `${suite.name}.taskSet`,
        `The suite ${suite.name} has no ${suite.split} tasks. Check ${suite.name}.taskSet.`,
      );
    }
    const { tools, verifier, judge } = config;
    const { k, temperature, topK, topP, minP, deadlineSeconds } = settings;
    return {
      name: suite.name,
      description: suite.description,
      k,
      sampling: {
        ...{ temperature, topK, topP, minP },
        maxTurnTokens: settings.maxTurnTokens ?? config.rollout.maxTurnTokens,
        maxContextTokens: settings.maxContextTokens ?? config.rollout.maxContextTokens,
      },
      ...(deadlineSeconds !== undefined && { deadlineSeconds }),
      taskSet,
      split: suite.split,
      taskCount: Math.min(settings.tasks, size),
      makeEnv: makeEvaluationEnv,
      mostTurns: 1 + (protocol.evaluationBudgets ?? protocol.budgets).toolTurns,
      scoring: rules,
      ...(judges && { judges }),
      slices: suite.slices,
      settings: {
        split: suite.split,
        taskSet: config.taskSet,
        protocol: config.protocol,
        prompting,
        ...(tools && { tools }),
        verifier,
        ...(judge && { judge: withoutAddress(judge) }),
        scoring: config.scoring,
      },
      dispose: () => playground.dispose(),
    };
  } catch (error) {
    await playground.dispose();
    throw error;
  }
}

/** A judge is its model: where it is served, and how patiently it is asked, may change. */
function withoutAddress({
  name,
  model,
  temperature,
  judgesAnswers,
}: {
  readonly name: string;
  readonly [setting: string]: unknown;
}): Readonly<Record<string, unknown>> {
  return { name, model, temperature, judgesAnswers };
}
