/** The parts of a run, opened from its units: device, policy, sandbox, tasks, scoring. */
import type { Algorithm, ScoredGroup as AlgorithmGroup } from '@saccade/algorithms';
import { ConfigError, type EventSink } from '@saccade/core';
import type { SettingsSchema } from '@saccade/core/settings';
import { type ColdStart, checkColdStart } from '@saccade/data';
import { createToolEnv, inEpochs, type Protocol } from '@saccade/gym';
import type { OpenColdStart, RunParts, StageOptimizer } from '@saccade/loop';
import { type Device, openDevice } from '@saccade/ops';
import { type LocalPolicy, loadLocalPolicy } from '@saccade/policy';
import type { OpenEngine } from '@saccade/policy/remote';
import { type GroupJudges, judgedInputs, type RewardTerm, termsOf } from '@saccade/rewards';
import { type MakeEnv, ModelImages, withSlowTools } from '@saccade/rollout';
import type { Sandbox } from '@saccade/sandbox';
import type { InFlightLimits, Scheduler, ScoredGroup } from '@saccade/schedulers';
import {
  type ChosenTool,
  describeTools,
  type OpenTools,
  openTools,
  type Tool,
} from '@saccade/tools';
import type { ResolvedRun } from './run-config.ts';
import type { Selected } from './slots/slot.ts';

/** The parts of a run, and what only their owner closes. */
export interface Parts extends RunParts {
  readonly device: Device;
  readonly policy: LocalPolicy;
  readonly sandbox: Sandbox;
  readonly optimizer: StageOptimizer;
  /** The policy in a directory, held fixed; opened on the first call, the same from then on. */
  openReference(directory: string): Promise<LocalPolicy>;
  dispose(): Promise<void>;
}

/** What a run opens its units with. */
export interface OpenOptions {
  /** The interpreter of the sandbox; asked for only where code runs on this machine. */
  readonly python: () => Promise<string>;
  readonly onEvent: EventSink;
  /** The run's directory. */
  readonly directory: string;
}

/** The settings of a unit, without its name. */
function settingsOf({ name: _, ...settings }: Selected): Readonly<Record<string, unknown>> {
  return settings;
}

/** What of a run has to be open to play its tasks, without a policy. */
export type Playground = Pick<
  Parts,
  'sandbox' | 'taskSet' | 'protocol' | 'makeEnv' | 'makeEvaluationEnv'
> & { dispose(): Promise<void> };

/** The device of a run. */
export async function openRunDevice({ config, units }: ResolvedRun): Promise<Device> {
  return openDevice(await required(units.backend).open(settingsOf(config.backend)));
}

/** The tools that a run names, with their settings; undefined where it leaves them to the protocol. */
function chosenTools({ config, units }: ResolvedRun): readonly ChosenTool[] | undefined {
  return units.tools?.map((choice, index) => {
    const selected = config.tools?.[index];
    return { choice, settings: selected === undefined ? {} : settingsOf(selected) };
  });
}

/** The protocol of a run, at its settings, with its tools as far as they are known unopened. */
export function protocolOf(run: ResolvedRun): Protocol {
  const chosen = chosenTools(run);
  return protocolWith(run, chosen && describeTools(chosen));
}

function protocolWith({ config, units }: ResolvedRun, tools?: readonly Tool[]): Protocol {
  return required(units.protocol).with(settingsOf(config.protocol), tools);
}

/** Opens the sandbox, the task set and the environments of a run. */
export async function openPlayground(
  run: ResolvedRun,
  { python, onEvent }: Pick<OpenOptions, 'python' | 'onEvent'>,
): Promise<Playground> {
  const { config, units } = run;
  const sandbox = await required(units.sandbox).open(settingsOf(config.sandbox), {
    python,
    onEvent,
    wallSeconds: protocolOf(run).executionSeconds ?? 10,
    // An evaluation beside rollouts that wait with their sessions open needs as many again.
    sessions: 2 * config.rollout.concurrency,
  });
  const chosen = chosenTools(run);
  let tools: OpenTools | undefined;
  try {
    tools = chosen && (await openTools(chosen, { python, onEvent, secret }));
    const protocol = protocolWith(run, tools?.tools);
    const tasks = required(units.taskSet).with(settingsOf(config.taskSet));
    const taskSet = (await tasks.open?.({ sandbox })) ?? tasks;
    const { slowShare: share, slowSeconds: seconds } = config.rollout;
    const envMaker = (budgets: Protocol['budgets']): MakeEnv => {
      return () => {
        const env = createToolEnv({ protocol, sandbox, budgets });
        return share > 0 ? withSlowTools(env, { seed: config.seed, share, seconds }) : env;
      };
    };
    return {
      sandbox,
      taskSet: inEpochs(taskSet, config.seed),
      protocol,
      makeEnv: envMaker(protocol.budgets),
      makeEvaluationEnv: envMaker(protocol.evaluationBudgets ?? protocol.budgets),
      async dispose() {
        await taskSet.dispose?.();
        await tools?.dispose();
        await sandbox.dispose();
      },
    };
  } catch (error) {
    await tools?.dispose();
    await sandbox.dispose();
    throw error;
  }
}

/**
 * The terms of a run's reward. One that a person weighs 0 is left out: it would be a constant among
 * the terms.
 */
export function rewardTermsOf({ config, units }: ResolvedRun): readonly RewardTerm[] {
  const preset = required(units.reward);
  const weights = new Map(preset.terms.map(({ reward, weight }) => [reward.name, weight.value]));
  return termsOf(preset, settingsOf(config.reward) as Parameters<typeof termsOf>[1]).filter(
    ({ reward, weight }) => weight !== 0 || weights.get(reward.name) === 0,
  );
}

/** What the loop can give an algorithm beside rewards, log-probs and advantages. */
const GIVEN = [
  'entropy',
  'refLogprobs',
  'rolloutLogprobs',
  'terms',
  'tokenCounts',
  'turnOffsets',
  'turnRewards',
  'turns',
  'values',
];

/**
 * The algorithm of a run with its profile and settings.
 *
 * @throws ConfigError for an algorithm that needs what the loop cannot give it
 */
function algorithmOf({ config, units }: ResolvedRun): Algorithm {
  const { profile: _, ...settings } = settingsOf(config.algorithm);
  const algorithm = required(units.algorithm).with(settings as Parameters<Algorithm['with']>[0]);
  const missing = algorithm.needs.filter((input) => !GIVEN.includes(input));
  if (missing.length === 0) return algorithm;
  throw new ConfigError(
    'algorithm',
    `algorithm: ${algorithm.name} needs ${missing.join(', ')}, which this loop does not give. ` +
      'Choose another algorithm, or call it from a loop of your own.',
  );
}

/** A secret from the environment. @throws ConfigError if it is not set */
function secret(field: string, variable: string): string {
  const value = process.env[variable];
  if (value !== undefined) return value;
  throw new ConfigError(
    field,
    `${field}: the environment has no ${variable}. Set it to the API key.`,
  );
}

function judgesOf(run: ResolvedRun, directory: string): GroupJudges | undefined {
  const { config, units } = run;
  const judges = units.judge?.open(settingsOf(config.judge as Selected), { directory, secret });
  const needed = [...judgedInputs(rewardTermsOf(run))];
  if (judges !== undefined || needed.length === 0) return judges;
  throw new ConfigError(
    'reward',
    `reward: ${config.reward.name} needs ${needed.join(', ')} of a judge, and there is none. Set ` +
      'judge.baseUrl and judge.model, or choose another reward.',
  );
}

/** Whether a run shows its cold start at all. */
function showsColdStart({ config }: ResolvedRun): boolean {
  return config.startFrom === undefined && config.sft.updates > 0;
}

/** Checks what only opening would find, without opening anything. @throws ConfigError */
export function checkRun(run: ResolvedRun): void {
  algorithmOf(run);
  judgesOf(run, '.');
  schedulerOf(run, algorithmOf(run));
  const protocol = protocolOf(run);
  const { coldStart } = run.units;
  if (coldStart !== undefined && showsColdStart(run)) {
    checkColdStart(coldStart, settingsOf(run.config.coldStart as Selected), protocol);
  }
  required(run.units.taskSet).with(settingsOf(run.config.taskSet));
}

/** Limits of a streaming scheduler, with what the run itself knows of them. */
function inFlightLimits({ config, units }: ResolvedRun): InFlightLimits | undefined {
  if (units.scheduler?.isStreaming !== true) return undefined;
  const { deadlineSeconds, maxContextTokens } = config.rollout;
  const own = config.scheduler.inFlight as InFlightLimits | undefined;
  if (own === undefined && deadlineSeconds === undefined) return undefined;
  return {
    ...(deadlineSeconds !== undefined && { deadlineSeconds }),
    ...(own?.maxTokens !== undefined && { tokensPerTrajectory: maxContextTokens }),
    ...own,
  };
}

function schedulerOf(run: ResolvedRun, algorithm: Algorithm): Scheduler {
  const { config, units } = run;
  const inFlight = inFlightLimits(run);
  return required(units.scheduler).create({
    ...(settingsOf(config.scheduler) as { readonly promptsPerStep: number }),
    ...(inFlight && { inFlight }),
    groupSize: config.rl.groupSize,
    advantages: ({ trajectories }) => algorithm.groupAdvantages(scored(trajectories)),
  });
}

function optimizersOf({ config, units }: ResolvedRun): Pick<Parts, 'optimizer' | 'sftOptimizer'> {
  const { rl, sft } = config;
  return {
    optimizer: {
      optimizer: required(units.optimizer).create(settingsOf(config.optimizer)),
      schedule: required(units.schedule).create(
        { peak: rl.learningRate, total: rl.steps * rl.minibatches },
        settingsOf(config.schedule),
      ),
    },
    sftOptimizer: {
      optimizer: required(units.sftOptimizer).create(settingsOf(config.sftOptimizer)),
      schedule: required(units.sftSchedule).create(
        { peak: sft.learningRate, total: sft.updates },
        settingsOf(config.sftSchedule),
      ),
    },
  };
}

/** Opens all parts of a run; dispose of them when it is over. */
export async function openParts(run: ResolvedRun, options: OpenOptions): Promise<Parts> {
  checkRun(run);
  const { config, units } = run;
  const algorithm = algorithmOf(run);
  const deadline = inFlightLimits(run)?.deadlineSeconds;
  const device = await openRunDevice(run);
  let playground: Playground | undefined;
  try {
    playground = await openPlayground(run, options);
    const { protocol } = playground;
    const policy = await required(units.model).open(settingsOf(config.model), {
      device,
      seed: config.seed,
      valueHead: algorithm.needs.includes('values'),
      corpus: units.coldStart?.corpus(protocol) ?? [],
    });
    const { sampler, sync } = await openEngine(run, policy, options.directory);
    const judges = judgesOf(run, options.directory);
    let reference: Promise<LocalPolicy> | undefined;
    const { dispose, ...played } = playground;
    return {
      device,
      policy,
      sampler,
      syncSampler: sync,
      // Of the sampler: an engine is sent the bytes of the images that its own processor has seen.
      images: new ModelImages(sampler.processor),
      ...played,
      ...(units.coldStart && { coldStart: coldStartOf(run, units.coldStart) }),
      scoring: {
        verifier: required(units.verifier).with(settingsOf(config.verifier)),
        terms: rewardTermsOf(run),
      },
      ...(judges && { judges }),
      algorithm,
      ...optimizersOf(run),
      schedulerKind: required(units.scheduler),
      scheduler: schedulerOf(run, algorithm),
      ...(deadline !== undefined && { taskDeadlineSeconds: deadline }),
      openReference(directory) {
        reference ??= loadLocalPolicy({ device, directory });
        return reference;
      },
      async dispose() {
        await dispose();
        (await reference)?.dispose();
        policy.dispose();
        device.dispose();
      },
    };
  } catch (error) {
    // An engine that does not answer must not leave processes behind.
    await playground?.dispose();
    device.dispose();
    throw error;
  }
}

function coldStartOf({ config }: ResolvedRun, unit: ColdStart<SettingsSchema>): OpenColdStart {
  const settings = settingsOf(config.coldStart as Selected);
  return {
    name: unit.name,
    taskCount: unit.taskCount(settings),
    gather: (context) => unit.gather(settings, context),
  };
}

/** Opens what a run samples with. */
async function openEngine(
  { config, units }: ResolvedRun,
  policy: LocalPolicy,
  directory: string,
): Promise<OpenEngine> {
  if (units.engine === undefined) return { sampler: policy, sync: async () => {} };
  return await units.engine.open(settingsOf(config.engine as Selected), {
    policy,
    directory,
    temperatures: [config.rl.temperature, config.evaluation.temperature],
    secret,
  });
}

/** A slot that every run fills. */
function required<Some>(unit: Some | undefined): Some {
  if (unit !== undefined) return unit;
  throw new ConfigError(
    '',
    'A slot of the run is empty. Leave it out of the recipe instead of null.',
  );
}

/** A group as algorithms see it. */
function scored(trajectories: ScoredGroup['trajectories']): AlgorithmGroup {
  const tokensOf = ({ segments }: ScoredGroup['trajectories'][number]) =>
    segments.reduce((sum, { kind, tokens }) => sum + (kind === 'model' ? tokens.length : 0), 0);
  const names = new Set(trajectories.flatMap(({ rewardTerms }) => Object.keys(rewardTerms)));
  const terms = [...names].map((name) => [
    name,
    Float64Array.from(trajectories, ({ rewardTerms }) => rewardTerms[name] ?? 0),
  ]);
  return {
    rewards: Float64Array.from(trajectories, ({ reward }) => reward),
    tokenCounts: trajectories.map(tokensOf),
    terms: {
      accuracy: Float64Array.from(trajectories, ({ isCorrect }) => (isCorrect ? 1 : 0)),
      ...Object.fromEntries(terms),
    },
  };
}
