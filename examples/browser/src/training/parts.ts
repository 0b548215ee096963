/** The parts of a run, made from its settings: policy, environment, scoring, algorithm, scheduler. */
import { type Algorithm, algorithms } from '@saccade/algorithms';
import { ConfigError } from '@saccade/core';
import type { Task } from '@saccade/gym';
import type { Device } from '@saccade/ops';
import {
  createLocalPolicy,
  LocalPolicy,
  nanoConfig,
  type Qwen2_5_VLConfig,
  QwenProcessor,
  qwen2_5_vl,
} from '@saccade/policy';
import { accuracy, exact, presetTerms, type Scoring } from '@saccade/rewards';
import { type MakeEnv, ModelImages } from '@saccade/rollout';
import { oversampleFilterRank, type Scheduler } from '@saccade/schedulers';
import { createLookingEnv } from '../environment/looking-env.ts';
import { cardsTask } from '../task/cards.ts';
import { algorithmNames } from './algorithm-names.ts';
import { makeTokenizer } from './corpus.ts';
import { imageConfig } from './image-config.ts';
import type { PolicySize, Preset } from './presets.ts';
import { unpackWeights } from './weights.ts';

/** The choices a user makes on the page. */
export interface Settings {
  readonly preset: Preset;
  /** A name of the algorithms' registry. */
  readonly algorithm: string;
  /** Whether tool calls of a right trajectory earn PyVision-RL's bonus, or right answers alone do. */
  readonly hasToolBonus: boolean;
  readonly seed: number;
}

export interface Parts {
  readonly policy: LocalPolicy;
  readonly images: ModelImages;
  readonly makeEnv: MakeEnv;
  readonly scoring: Scoring;
  readonly algorithm: Algorithm;
  readonly scheduler: Scheduler;
  readonly heldOut: readonly Task[];
}

/**
 * @param weights  a file of `packWeights` to start from; default: random weights of the seed
 * @throws ConfigError for an algorithm that is not among `algorithmNames()`; DataError for weights of
 *   another policy; errors of the device
 */
export function makeParts(device: Device, settings: Settings, weights?: ArrayBuffer): Parts {
  const { preset, hasToolBonus, seed } = settings;
  const { rl, task, toolCalls } = preset;
  const algorithm = algorithms.get(settings.algorithm);
  if (!algorithmNames().includes(algorithm.name)) {
    throw new ConfigError(
      'algorithm',
      `${algorithm.name} needs more than rewards. Choose one of ${algorithmNames().join(', ')}.`,
    );
  }
  const processor = new QwenProcessor(makeTokenizer(task), imageConfig(task));
  const config = modelConfig(preset.policy, processor, preset.maxContextTokens);
  const model = qwen2_5_vl.model(config);
  return {
    policy:
      weights === undefined
        ? createLocalPolicy({ device, model, processor, seed })
        : new LocalPolicy({
            ...{ device, model, processor, dtype: 'f32' },
            parameters: unpackWeights(weights, device, model),
          }),
    images: new ModelImages(processor),
    makeEnv: () => createLookingEnv({ toolCalls }),
    scoring: {
      verifier: exact,
      terms: hasToolBonus ? presetTerms('pyvision') : [{ reward: accuracy, weight: 1 }],
    },
    algorithm,
    scheduler: oversampleFilterRank.create({
      promptsPerStep: rl.promptsPerStep,
      groupSize: rl.groupSize,
      oversample: rl.oversample,
      advantages: ({ trajectories }) =>
        algorithm.groupAdvantages({
          rewards: Float64Array.from(trajectories, ({ reward }) => reward),
        }),
    }) as Scheduler,
    heldOut: Array.from({ length: preset.evaluationTasks }, (_, i) =>
      cardsTask(task, 'heldOut', i),
    ),
  };
}

/** The nano policy at another size, with patches as the processor cuts them. */
function modelConfig(
  { vision, ...decoder }: PolicySize,
  { codec, tokens, images }: QwenProcessor,
  maxPositions: number,
): Qwen2_5_VLConfig {
  const nano = nanoConfig(codec.vocabSize, tokens);
  const { patchSize, mergeSize, temporalPatchSize } = images;
  return {
    ...nano,
    ...decoder,
    maxPositions,
    vision: {
      ...nano.vision,
      ...vision,
      patchSize,
      mergeSize,
      temporalPatchSize,
      fullAttentionBlocks: Array.from({ length: vision.depth }, (_, block) => block),
    },
  };
}
