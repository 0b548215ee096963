/** The parts of a run, made from its settings: policy, environment, scoring, algorithm, scheduler. */
import { type Algorithm, algorithms } from '@saccade/algorithms';
import type { Task } from '@saccade/gym';
import type { Device } from '@saccade/ops';
import {
  createLocalPolicy,
  type LocalPolicy,
  type ModelConfig,
  QwenProcessor,
  qwenImageProcessor,
} from '@saccade/policy';
import { accumulativeTool, accuracy, exact, type Scoring } from '@saccade/rewards';
import { type MakeEnv, ModelImages } from '@saccade/rollout';
import { oversampleFilterRank, type Scheduler } from '@saccade/schedulers';
import { createLookingEnv } from '../environment/looking-env.ts';
import { cardsTask } from '../task/cards.ts';
import { CELL } from '../task/draw-table.ts';
import { makeTokenizer } from './corpus.ts';
import type { PolicySize, Preset } from './presets.ts';

/** What a person chooses on the page. */
export interface Settings {
  readonly preset: Preset;
  /** A name of the algorithms' registry. */
  readonly algorithm: string;
  /** What a tool call of a right trajectory earns; 0 for right answers alone. */
  readonly toolBonus: number;
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

/** @throws ConfigError for an unknown algorithm; the errors of the device */
export function makeParts(device: Device, settings: Settings): Parts {
  const { preset, toolBonus, seed } = settings;
  const { rl, task, toolCalls, overviewPixels } = preset;
  const algorithm = algorithms.get(settings.algorithm);
  const processor = new QwenProcessor(makeTokenizer(task), {
    ...qwenImageProcessor,
    temporalPatchSize: 1,
    minPixels: CELL * CELL,
    maxPixels: overviewPixels,
  });
  const config = modelConfig(preset.policy, processor, preset.maxContextTokens);
  return {
    policy: createLocalPolicy({ device, config, processor, seed }),
    images: new ModelImages(processor),
    makeEnv: () => createLookingEnv({ toolCalls }),
    scoring: {
      verifier: exact,
      terms: [
        { reward: accuracy, weight: 1 },
        { reward: accumulativeTool, weight: toolBonus },
      ],
    },
    algorithm,
    scheduler: oversampleFilterRank.create({
      promptsPerStep: rl.promptsPerStep,
      groupSize: rl.groupSize,
      oversample: rl.oversample,
      advantages: (rewards) => algorithm.advantages(rewards),
    }) as Scheduler,
    heldOut: Array.from({ length: preset.evaluationTasks }, (_, i) =>
      cardsTask(task, 'heldOut', i),
    ),
  };
}

/** A still picture is one moment, so that patches are half as long as the published model's. */
function modelConfig(
  { vision, ...decoder }: PolicySize,
  processor: QwenProcessor,
  maxPositions: number,
): ModelConfig {
  return {
    vocabSize: processor.codec.vocabSize,
    ...decoder,
    eps: 1e-6,
    ropeTheta: 10000,
    isTied: true,
    maxPositions,
    ...processor.tokens,
    vision: {
      ...vision,
      patchSize: 14,
      mergeSize: 2,
      temporalPatchSize: 1,
      windowSize: 112,
      fullAttentionBlocks: Array.from({ length: vision.depth }, (_, block) => block),
    },
  };
}
