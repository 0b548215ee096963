/** The parts of a run, made from its configuration: device, policy, sandbox, tasks, scoring. */
import { type Algorithm, algorithms } from '@saccade/algorithms';
import { cudaBackend, nativeBackend } from '@saccade/backend-native';
import { webgpuBackend } from '@saccade/backend-webgpu';
import { ConfigError, type EventSink } from '@saccade/core';
import { needleCorpus } from '@saccade/data';
import { createToolEnv, type Protocol, protocols, type TaskSet, taskSets } from '@saccade/gym';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  nanoConfig,
  QwenProcessor,
  qwenImageProcessor,
  trainTokenizer,
} from '@saccade/policy';
import { exact, pyvisionRlTerms, type Scoring } from '@saccade/rewards';
import { type MakeEnv, ModelImages } from '@saccade/rollout';
import { type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { type Scheduler, schedulers } from '@saccade/schedulers';
import type { RunConfig } from './config.ts';

export interface Parts {
  readonly device: Device;
  readonly policy: LocalPolicy;
  readonly images: ModelImages;
  readonly sandbox: LocalSandbox;
  readonly taskSet: TaskSet;
  readonly protocol: Protocol;
  readonly makeEnv: MakeEnv;
  readonly scoring: Scoring;
  readonly algorithm: Algorithm;
  readonly scheduler: Scheduler;
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
  checkAlgorithm(algorithms.get(config.rl.algorithm));
  schedulers.get(config.rl.scheduler);
  if (config.policy !== 'nano') {
    throw new ConfigError('policy', `There is no policy size "${config.policy}". Known: nano.`);
  }
  if (config.rl.reward !== 'pyvision-rl') {
    throw new ConfigError(
      'rl.reward',
      `There is no reward preset "${config.rl.reward}". Known: pyvision-rl.`,
    );
  }
}

/**
 * The loop gives an algorithm rewards and the sampler's log-probs, and passes a group's advantages on
 * to its tokens: it refuses algorithms that would silently be others then.
 */
function checkAlgorithm({ name, needs, stages }: Algorithm): void {
  const missing = [...needs, ...stages.map((stage) => `the stage ${stage}`)];
  if (missing.length === 0) return;
  const known = algorithms
    .entries()
    .filter(([, one]) => one.needs.length + one.stages.length === 0)
    .map(([known]) => known);
  throw new ConfigError(
    'rl.algorithm',
    `${name} needs ${missing.join(', ')}, which this loop does not give. ` +
      `Choose one of ${known.join(', ')}.`,
  );
}

/** Opens all parts of a run; dispose of them when it is over. */
export async function openParts(
  config: RunConfig,
  python: string,
  onEvent: EventSink,
): Promise<Parts> {
  checkNames(config);
  const taskSet = taskSets.get(config.taskSet);
  const protocol = protocols.get(config.protocol);
  const algorithm = tune(algorithms.get(config.rl.algorithm), config);
  const device = await openBackend(config);
  try {
    const sandbox = await openSandbox({
      python,
      onEvent,
      limits: { wallSeconds: config.rollout.sandboxWallSeconds },
    });
    const processor = new QwenProcessor(trainTokenizer(needleCorpus(protocol), NANO_VOCABULARY), {
      ...qwenImageProcessor,
      ...NANO_PIXELS,
    });
    const modelConfig = nanoConfig(processor.codec.vocabSize, processor.tokens);
    const policy = createLocalPolicy({ device, config: modelConfig, processor, seed: config.seed });
    const budgets = { toolTurns: config.rollout.maxToolTurns, images: config.rollout.maxImages };
    return {
      device,
      policy,
      images: new ModelImages(processor),
      sandbox,
      taskSet,
      protocol,
      makeEnv: () => createToolEnv({ protocol, sandbox, budgets }),
      scoring: {
        verifier: exact,
        terms: pyvisionRlTerms({ toolCoefficient: config.rl.accumulativeCoefficient }),
      },
      algorithm,
      scheduler: makeScheduler(config, algorithm),
      async dispose() {
        await sandbox.dispose();
        policy.dispose();
        device.dispose();
      },
    };
  } catch (error) {
    device.dispose();
    throw error;
  }
}

/** The algorithm with those of the run's numbers that it has. */
function tune(algorithm: Algorithm, { rl }: RunConfig): Algorithm {
  const given: Record<string, number> = { clipLow: rl.clipLow, clipHigh: rl.clipHigh };
  const known = Object.entries(given).filter(([name]) => name in algorithm.settings);
  return algorithm.with(Object.fromEntries(known));
}

function makeScheduler({ rl }: RunConfig, algorithm: Algorithm): Scheduler {
  const options = {
    promptsPerStep: rl.batchSize,
    groupSize: rl.groupSize,
    advantages: (rewards: Float64Array) => algorithm.groupAdvantages({ rewards }),
    oversample: rl.oversample,
    ranking: rl.ranking,
  };
  return schedulers.get(rl.scheduler).create(options);
}
