/** The parts of a run, opened from its units: device, policy, sandbox, tasks, scoring. */
import type { Algorithm } from '@saccade/algorithms';
import { ConfigError, isTracing } from '@saccade/core';
import type { SettingsSchema } from '@saccade/core/settings';
import { type ColdStart, checkColdStart } from '@saccade/data';
import { checkCoefficients } from '@saccade/learner';
import {
  baselinesPerTask,
  type OpenColdStart,
  type RunParts,
  type StageOptimizer,
  takesBaseline,
  WorkMeter,
} from '@saccade/loop';
import { type Device, openDevice, tracedBackend } from '@saccade/ops';
import { type FixedPolicy, isTruncated, type TrainedPolicy } from '@saccade/policy';
import type { OpenEngine } from '@saccade/policy/remote';
import {
  type AuditSettings,
  detectorsWith,
  type GroupJudges,
  judgedInputs,
  missingInputs,
} from '@saccade/rewards';
import { ModelImages } from '@saccade/rollout';
import type { Sandbox } from '@saccade/sandbox';
import type { InFlightLimits, Scheduler } from '@saccade/schedulers';
import { hubOf } from './hub.ts';
import { openPolicyIn } from './open-policy-in.ts';
import { type OpenOptions, openPlayground, type Playground } from './playground.ts';
import { processUsage } from './process-usage.ts';
import { protocolOf } from './protocol-of.ts';
import type { ResolvedRun } from './run-config.ts';
import { algorithmGroup, rewardTermsOf, scoringOf } from './scoring.ts';
import { secret } from './secret.ts';
import type { Selected } from './slots/slot.ts';
import { required, settingsOf } from './unit-settings.ts';

/** The parts of a run, and what only their owner closes. */
export interface Parts extends RunParts {
  readonly device: Device;
  readonly policy: TrainedPolicy;
  readonly sandbox: Sandbox;
  readonly optimizer: StageOptimizer;
  /** The policy in a directory, held fixed; opened on the first call, the same from then on. */
  openReference(directory: string): Promise<FixedPolicy>;
  dispose(): Promise<void>;
}

/** The device of a run. While a trace is on its launches are spans, and block where they can. */
export async function openRunDevice({ config, units }: ResolvedRun): Promise<Device> {
  const isTraced = isTracing();
  const options = { blocking: isTraced };
  const backend = await required(units.backend).open(settingsOf(config.backend), options);
  return openDevice(isTraced ? tracedBackend(backend) : backend);
}

/** The inputs that the loop can give an algorithm beside rewards, log-probs and advantages. */
const GIVEN = [
  'entropy',
  'greedyReward',
  'refLogprobs',
  'rolloutLogprobs',
  'sumSquaredProbs',
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
export function algorithmOf({ config, units }: ResolvedRun): Algorithm {
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

function judgesOf(run: ResolvedRun, directory: string): GroupJudges | undefined {
  const { config, units } = run;
  const judges = units.judge?.open(settingsOf(config.judge as Selected), { directory, secret });
  const needed = [...judgedInputs(rewardTermsOf(run))];
  if (judges === undefined && needed.length > 0) {
    throw new ConfigError(
      'reward',
      `reward: ${config.reward.name} needs ${needed.join(', ')} of a judge, and there is none. Set ` +
        'judge.baseUrl and judge.model, or choose another reward.',
    );
  }
  const missing = judges === undefined ? [] : missingInputs(judges, needed);
  if (missing.length === 0) return judges;
  throw new ConfigError(
    'judge',
    `judge: ${config.reward.name} needs ${missing.join(', ')}, which judge=${config.judge?.name} does ` +
      'not give. Choose judge=openai, or another reward.',
  );
}

/**
 * How a run scores, with the judges that its reward asks.
 *
 * @param directory where judges keep their answers
 */
export function scoringPartsOf(
  run: ResolvedRun,
  directory: string,
): Pick<Parts, 'scoring' | 'judges'> {
  const judges = judgesOf(run, directory);
  return { scoring: scoringOf(run), ...(judges && { judges }) };
}

/** Whether a run shows its cold start at all. */
function showsColdStart({ config }: ResolvedRun): boolean {
  return config.startFrom === undefined && config.sft.updates > 0;
}

/** Checks what only opening would find, without opening anything. @throws ConfigError */
export function checkRun(run: ResolvedRun): void {
  const algorithm = algorithmOf(run);
  checkCoefficients(algorithm, run.config.coefficients);
  judgesOf(run, '.');
  schedulerOf(run, algorithm);
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
    baselinesPerTask: baselinesPerTask(algorithm),
    advantages: (group) => algorithm.groupAdvantages(algorithmGroup(group)),
  });
}

/**
 * Trajectories that are sampled at a time, at most: those of a step's first round, or of an evaluation,
 * as far as `rollout.concurrency` lets them.
 */
export function contextsOf(run: ResolvedRun): number {
  const { rl, evaluation, rollout } = run.config;
  const algorithm = algorithmOf(run);
  const scheduler = schedulerOf(run, algorithm);
  const [, commands] = scheduler.next(scheduler.init(), { kind: 'stepStarted', step: 1 });
  const tasks = commands.reduce((sum, one) => sum + (one.kind === 'rollOut' ? one.count : 0), 0);
  const ofStep = rl.steps > 0 ? tasks * (rl.groupSize + baselinesPerTask(algorithm)) : 0;
  return Math.max(1, Math.min(rollout.concurrency, Math.max(ofStep, evaluation.count)));
}

export function optimizersOf({
  config,
  units,
}: ResolvedRun): Pick<Parts, 'optimizer' | 'sftOptimizer'> {
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
    const work = new WorkMeter(() => processUsage(playground?.sandbox));
    playground = await openPlayground(run, { ...options, work });
    const { protocol } = playground;
    const policy = await required(units.model).open(settingsOf(config.model), {
      device,
      seed: config.seed,
      valueHead: algorithm.needs.includes('values'),
      corpus: units.coldStart?.corpus(protocol) ?? [],
      hub: { ...hubOf(process.env), onEvent: options.onEvent },
      secret,
      onEvent: options.onEvent,
      needs: {
        entropy: algorithm.needs.includes('entropy'),
        reference: algorithm.needs.includes('refLogprobs'),
        temperatures: [config.rl.temperature],
      },
    });
    policy.configureEngine(config.policy);
    const engine = await openEngine(run, policy, options);
    const { sampler, sync } = engine;
    let reference: Promise<FixedPolicy> | undefined;
    const { dispose, ...played } = playground;
    return {
      device,
      policy,
      sampler,
      syncSampler: sync,
      work,
      // The sampler's: an engine is sent the bytes of the images that its own processor has seen.
      images: new ModelImages(sampler.processor),
      ...played,
      ...(units.coldStart && { coldStart: coldStartOf(run, units.coldStart) }),
      ...scoringPartsOf(run, options.directory),
      detectors: detectorsWith(config.audit as AuditSettings),
      algorithm,
      ...optimizersOf(run),
      schedulerKind: required(units.scheduler),
      scheduler: schedulerOf(run, algorithm),
      ...(deadline !== undefined && { taskDeadlineSeconds: deadline }),
      openReference(directory) {
        reference ??= policy.openReference(directory, {
          openWhole: (whole) => openPolicyIn(whole, device),
        });
        return reference;
      },
      async dispose() {
        await dispose();
        engine.dispose?.();
        await (await reference)?.dispose();
        await policy.dispose();
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
  run: ResolvedRun,
  policy: TrainedPolicy,
  { directory, onEvent }: Pick<OpenOptions, 'directory' | 'onEvent'>,
): Promise<OpenEngine> {
  const { config, units } = run;
  if (units.engine === undefined) return { sampler: policy, sync: async () => {} };
  return await units.engine.open(settingsOf(config.engine as Selected), {
    policy,
    directory,
    temperatures: [
      config.rl.temperature,
      config.evaluation.temperature,
      ...(takesBaseline(algorithmOf(run)) ? [0] : []),
    ],
    truncates: [config.rl, config.evaluation].some(
      (how) => how.temperature !== 0 && isTruncated(how),
    ),
    secret,
    onEvent,
  });
}
