/** The parts of a run, made from its configuration: device, policy, sandbox, tasks, scoring. */
import {
  type Algorithm,
  type ScoredGroup as AlgorithmGroup,
  algorithms,
} from '@saccade/algorithms';
import { cudaBackend, nativeBackend } from '@saccade/backend-native';
import { webgpuBackend } from '@saccade/backend-webgpu';
import { ConfigError, type EventSink } from '@saccade/core';
import {
  createToolEnv,
  type Protocol,
  protocols,
  type TaskSet,
  taskSets,
  uniformFrames,
} from '@saccade/gym';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  loadLocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwenImageProcessor,
  type Sampler,
  trainTokenizer,
} from '@saccade/policy';
import {
  exact,
  type GroupJudges,
  judgedInputs,
  presetTerms,
  type RewardTerm,
  type Scoring,
} from '@saccade/rewards';
import { type MakeEnv, ModelImages } from '@saccade/rollout';
import type { Sandbox } from '@saccade/sandbox';
import { type Scheduler, type ScoredGroup, schedulers } from '@saccade/schedulers';
import type { ColdStart } from './cold-start.ts';
import type { RunConfig } from './config.ts';
import { openEngine } from './engine.ts';
import { checkJudge, hasJudge, openJudges } from './judges.ts';
import { coldStarts } from './registry.ts';
import { openRunSandbox } from './run-sandbox.ts';
import { withSlowTools } from './slow-tools.ts';

export interface Parts {
  readonly device: Device;
  readonly policy: LocalPolicy;
  /** What rollouts are sampled with: the policy, or an engine that has its weights. */
  readonly sampler: Sampler;
  /** Gives the sampler the policy's weights; to be awaited before it is asked for anything. */
  syncSampler(): Promise<void>;
  readonly images: ModelImages;
  readonly sandbox: Sandbox;
  readonly taskSet: TaskSet;
  readonly protocol: Protocol;
  readonly coldStart: ColdStart;
  readonly makeEnv: MakeEnv;
  readonly scoring: Scoring;
  /** Absent where the configuration has no judge. */
  readonly judges?: GroupJudges;
  readonly algorithm: Algorithm;
  readonly scheduler: Scheduler;
  /** The policy in a directory, held fixed; opened on the first call, the same from then on. */
  openReference(directory: string): Promise<LocalPolicy>;
  dispose(): Promise<void>;
}

/** Tokens of the nano tokenizer at most; it has fewer where the corpus offers no more merges. */
const NANO_VOCABULARY = 512;
/** The overview of a picture: a 448-pixel side becomes 112; a look at 28 pixels stays one token. */
const NANO_PIXELS = { minPixels: 28 * 28, maxPixels: 112 * 112 };

/** Opens the backend a configuration names. */
export async function openBackend(config: Pick<RunConfig, 'backend' | 'threads'>): Promise<Device> {
  if (config.backend === 'reference') return openDevice(referenceBackend());
  if (config.backend === 'cuda') return openDevice(cudaBackend());
  if (config.backend === 'webgpu') return openDevice(await webgpuBackend());
  return openDevice(nativeBackend(config.threads > 0 ? { threads: config.threads } : {}));
}

/**
 * Checks every name of a configuration before anything is opened.
 *
 * @throws ConfigError naming the known units
 */
export function checkNames(config: RunConfig): void {
  taskSets.get(config.taskSet);
  protocols.get(config.protocol);
  coldStarts.get(config.sft.examples);
  algorithmOf(config);
  checkScheduler(config);
  if (config.policy !== 'nano') {
    throw new ConfigError('policy', `There is no policy size "${config.policy}". Known: nano.`);
  }
  checkJudging(config);
}

/**
 * @throws ConfigError for an unknown scheduler, and for options that do not go together: what ends a
 *   rollout by the clock, or samples from caches nobody could make again, has no place in a run that
 *   is the same every time
 */
function checkScheduler({ rl, rollout }: RunConfig): void {
  const { isStreaming = false, name } = schedulers.get(rl.scheduler);
  if (!rl.deterministic || !isStreaming) return;
  const refuse = (field: string, reason: string): never => {
    throw new ConfigError(field, `${field}: ${reason} Change it, or set rl.deterministic=false.`);
  };
  if (rollout.deadlineSeconds > 0) {
    refuse('rollout.deadlineSeconds', `a deterministic ${name} run cannot have a deadline.`);
  }
  if (rl.staleCaches === 'keep') {
    const why = 'what is sampled then depends on caches that no checkpoint holds.';
    refuse('rl.staleCaches', `a deterministic ${name} run cannot keep stale caches: ${why}`);
  }
}

/**
 * The terms of a run's reward preset. One that a person weighs 0 is left out: it would be a constant
 * among the terms.
 *
 * @throws ConfigError for an unknown preset, and for a weight of a term that it does not have
 */
export function rewardTermsOf({ rl }: RunConfig): readonly RewardTerm[] {
  const terms = presetTerms(rl.reward, rl.rewardWeights);
  const weighed = terms.filter(({ reward }) => rl.rewardWeights[reward.name] !== 0);
  return weighed.map(({ reward, weight }) =>
    reward.name === 'accumulative-tool' && rl.rewardWeights[reward.name] === undefined
      ? { reward, weight: rl.accumulativeCoefficient }
      : { reward, weight },
  );
}

/** @throws ConfigError for a judge that cannot be asked, and for none where the reward needs one */
function checkJudging(config: RunConfig): void {
  const { judge, reward } = config.rl;
  checkJudge(judge);
  const needed = [...judgedInputs(rewardTermsOf(config))];
  if (needed.length === 0 || hasJudge(judge)) return;
  throw new ConfigError(
    'rl.reward',
    `${reward} needs ${needed.join(', ')} of a judge, and there is none. Set rl.judge.baseUrl ` +
      'and rl.judge.model, or choose another preset.',
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
 * @throws ConfigError for an unknown algorithm, profile or setting, and for an algorithm that needs
 *   what the loop cannot give it
 */
function algorithmOf({ rl }: RunConfig): Algorithm {
  const named = algorithms.get(rl.algorithm);
  const profiled = rl.profile === 'none' ? named : named.profile(rl.profile);
  const algorithm = profiled.with(rl.algorithmSettings);
  const missing = algorithm.needs.filter((input) => !GIVEN.includes(input));
  if (missing.length === 0) return algorithm;
  throw new ConfigError(
    'rl.algorithm',
    `${algorithm.name} needs ${missing.join(', ')}, which this loop does not give. ` +
      'Choose another algorithm, or call it from a loop of your own.',
  );
}

/** Opens all parts of a run in its directory; dispose of them when it is over. */
export async function openParts(
  config: RunConfig,
  python: string,
  onEvent: EventSink,
  directory: string,
): Promise<Parts> {
  checkNames(config);
  const taskSet = taskSets.get(config.taskSet);
  const protocol = protocols.get(config.protocol);
  const coldStart = coldStarts.get(config.sft.examples);
  const algorithm = algorithmOf(config);
  const device = await openBackend(config);
  let opened: Sandbox | undefined;
  try {
    const sandbox = await openRunSandbox(config.rollout, python, onEvent);
    opened = sandbox;
    const processor = new QwenProcessor(
      trainTokenizer(coldStart.corpus(protocol), NANO_VOCABULARY),
      {
        ...qwenImageProcessor,
        ...NANO_PIXELS,
      },
    );
    const modelConfig = nanoConfig(processor.codec.vocabSize, processor.tokens);
    const policy = createLocalPolicy({
      device,
      config: modelConfig,
      processor,
      seed: config.seed,
      valueHead: algorithm.needs.includes('values'),
    });
    const { sampler, sync } = await openEngine(config, policy, directory);
    let reference: Promise<LocalPolicy> | undefined;
    const judges = openJudges(config.rl.judge, directory);
    const { initialFrames } = config.rollout;
    return {
      device,
      policy,
      sampler,
      syncSampler: sync,
      // Of the sampler: an engine is sent the bytes of the pictures that its own processor has seen.
      images: new ModelImages(sampler.processor),
      sandbox,
      taskSet:
        initialFrames > 0 ? uniformFrames(taskSet, { sandbox, count: initialFrames }) : taskSet,
      protocol,
      coldStart,
      makeEnv: envMaker(config, protocol, sandbox),
      scoring: {
        verifier: exact,
        terms: rewardTermsOf(config),
      },
      ...(judges && { judges }),
      algorithm,
      scheduler: makeScheduler(config, algorithm),
      openReference(directory) {
        reference ??= loadLocalPolicy({ device, directory });
        return reference;
      },
      async dispose() {
        await sandbox.dispose();
        (await reference)?.dispose();
        policy.dispose();
        device.dispose();
      },
    };
  } catch (error) {
    // An engine that does not answer must not leave processes behind.
    await opened?.dispose();
    device.dispose();
    throw error;
  }
}

/** Environments of a configuration's protocol and budgets, with slow tools where it has them. */
export function envMaker(
  { seed, rollout }: Pick<RunConfig, 'seed' | 'rollout'>,
  protocol: Protocol,
  sandbox: Sandbox,
): MakeEnv {
  const budgets = { toolTurns: rollout.maxToolTurns, images: rollout.maxImages };
  const { slowShare: share, slowSeconds: seconds } = rollout;
  return () => {
    const env = createToolEnv({ protocol, sandbox, budgets });
    return share > 0 ? withSlowTools(env, { seed, share, seconds }) : env;
  };
}

function makeScheduler({ rl, rollout }: RunConfig, algorithm: Algorithm): Scheduler {
  const kind = schedulers.get(rl.scheduler);
  const { maxInFlight } = rl;
  const { deadlineSeconds } = rollout;
  const isLimited = kind.isStreaming === true && (maxInFlight > 0 || deadlineSeconds > 0);
  const options = {
    promptsPerStep: rl.batchSize,
    groupSize: rl.groupSize,
    advantages: ({ trajectories }: ScoredGroup) => algorithm.groupAdvantages(scored(trajectories)),
    oversample: rl.oversample,
    ranking: rl.ranking,
    maxRounds: rl.maxRounds,
    maxStaleness: rl.maxStaleness,
    tooStale: rl.tooStale,
    onUpdate: rl.onUpdate,
    maxRestarts: rl.maxRestarts,
    ...(isLimited && {
      inFlight: {
        ...(maxInFlight > 0 && { maxTrajectories: maxInFlight }),
        ...(deadlineSeconds > 0 && { deadlineSeconds }),
      },
    }),
  };
  return kind.create(options);
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
