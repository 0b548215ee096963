/** Sizes of a run: the task, the policy, how long it learns. */
import type { CardsOptions } from '../task/cards.ts';
import type { DemonstrationMix } from './demonstrations.ts';

export interface PolicySize {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly intermediate: number;
  readonly mropeSection: readonly [number, number, number];
  readonly vision: {
    readonly depth: number;
    readonly hidden: number;
    readonly heads: number;
    readonly intermediate: number;
  };
}

/** Examples of one kind: how many there are, and how many go into an update. */
export interface Examples {
  readonly count: number;
  readonly perUpdate: number;
}

/** The cold start: supervised learning on scripted trajectories. */
interface ColdStart {
  /** They behave badly on purpose; see `coldStartMix`. */
  readonly demonstrations: Examples;
  /** They visit every card; their decisions are given. */
  readonly tours: Examples;
  /** A card alone, and its symbol as the answer. */
  readonly readings: Examples;
  readonly mix: DemonstrationMix;
  readonly updates: number;
  readonly learningRate: number;
}

interface Reinforcement {
  readonly steps: number;
  /** B: groups trained on per step. */
  readonly promptsPerStep: number;
  /** α: groups rolled out per group trained on. */
  readonly oversample: number;
  /** G: trajectories per group. */
  readonly groupSize: number;
  readonly learningRate: number;
}

export interface Preset {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  readonly task: CardsOptions;
  readonly policy: PolicySize;
  readonly toolCalls: number;
  readonly coldStart: ColdStart;
  readonly rl: Reinforcement;
  /** Held-out tasks per evaluation, and RL steps between evaluations. */
  readonly evaluationTasks: number;
  readonly evaluationEvery: number;
  readonly maxTurnTokens: number;
  readonly maxContextTokens: number;
  /** Most packed tokens in a micro-batch. */
  readonly microBatchTokens: number;
}

/** Sound calls, sound reading; but they look too rarely, at wrong places, and stop too early. */
const coldStartMix: DemonstrationMix = {
  answerWithoutLooking: 0.45,
  lookAtNothing: 0.2,
  answerAfterSeeing: 0.85,
  answerAfterMissing: 0.6,
  zoomInstead: 0.25,
};

const small: Preset = {
  name: 'small',
  description: 'Sixteen cells, two cards, four symbols. For a GPU: a few minutes.',
  task: { cells: 4, cards: 2, symbols: 4 },
  policy: {
    hidden: 64,
    layers: 3,
    heads: 4,
    kvHeads: 2,
    intermediate: 160,
    mropeSection: [2, 3, 3],
    vision: { depth: 2, hidden: 64, heads: 4, intermediate: 128 },
  },
  toolCalls: 3,
  coldStart: {
    demonstrations: { count: 256, perUpdate: 12 },
    tours: { count: 1024, perUpdate: 48 },
    readings: { count: 512, perUpdate: 24 },
    updates: 300,
    learningRate: 2e-3,
    mix: coldStartMix,
  },
  rl: { steps: 80, promptsPerStep: 8, oversample: 2, groupSize: 8, learningRate: 2e-4 },
  evaluationTasks: 100,
  evaluationEvery: 10,
  maxTurnTokens: 32,
  maxContextTokens: 256,
  microBatchTokens: 8192,
};

const tiny: Preset = {
  name: 'tiny',
  description: 'Four cells, one card, four symbols. For software GPUs and tests.',
  task: { cells: 2, cards: 1, symbols: 4 },
  policy: {
    hidden: 32,
    layers: 2,
    heads: 2,
    kvHeads: 1,
    intermediate: 64,
    mropeSection: [2, 3, 3],
    vision: { depth: 1, hidden: 32, heads: 2, intermediate: 64 },
  },
  toolCalls: 2,
  coldStart: {
    demonstrations: { count: 64, perUpdate: 4 },
    tours: { count: 192, perUpdate: 12 },
    readings: { count: 128, perUpdate: 16 },
    updates: 200,
    learningRate: 4e-3,
    mix: { ...coldStartMix, zoomInstead: 0 },
  },
  rl: { steps: 40, promptsPerStep: 4, oversample: 1, groupSize: 6, learningRate: 6e-4 },
  evaluationTasks: 16,
  evaluationEvery: 10,
  maxTurnTokens: 24,
  maxContextTokens: 128,
  microBatchTokens: 4096,
};

export const presets: readonly Preset[] = [small, tiny];

/** The preset with a run of another length. */
export function withLength(preset: Preset, updates: number, steps: number): Preset {
  const { coldStart, rl } = preset;
  return { ...preset, coldStart: { ...coldStart, updates }, rl: { ...rl, steps } };
}
