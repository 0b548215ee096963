/**
 * Policy × algorithm × trajectories: what a batch teaches. It scores the step as far as the algorithm
 * needs it, fixes its advantages, and takes an optimizer step per minibatch.
 */
import {
  type Algorithm,
  type AlgorithmResult,
  countGlobally,
  finishMetrics,
  type GlobalCounts,
  meanKl,
  type PreparedStep,
  prepareStep,
} from '@saccade/algorithms';
import { ConfigError, stage } from '@saccade/core';
import type { Optimizer, Schedule } from '@saccade/optim';
import type { OptimizerStep, Policy, ScoreOptions } from '@saccade/policy';
import type { ModelImages } from '@saccade/rollout';
import type { AdvantagedTrajectory } from '@saccade/schedulers';
import type { CoefficientSettings } from './coefficient-settings.ts';
import {
  type Coefficients,
  coefficientMetrics,
  nextCoefficients,
  startingCoefficients,
  withCoefficients,
} from './coefficients.ts';
import { type PackedStep, packStep, rangeOf, type StepMinibatch } from './packed-step.ts';

/** The part of a policy that training uses. */
export type TrainablePolicy = Pick<Policy, 'score' | 'forwardBackward' | 'optimizerStep'>;

/** The policy, the algorithm that trains it, and how a step is split. */
export interface LearnerOptions {
  readonly policy: TrainablePolicy;
  readonly algorithm: Algorithm;
  readonly images: ModelImages;
  /** Steps by the accumulated gradient. Default: the policy's own default. */
  readonly optimizer?: Optimizer;
  /** The learning rate of each update, counted over the whole stage. */
  readonly schedule: Schedule;
  /** Optimizer updates per step. Default 1. */
  readonly minibatches?: number;
  /** Packed tokens per forward and backward pass. Default 8192. */
  readonly microBatchTokens?: number;
  /** Whether a group's prompt and images are computed once. Default true. */
  readonly sharedPrefix?: boolean;
  /** Temperature of the sampler; log-probs are those of this distribution. Default 1. */
  readonly temperature?: number;
  /**
   * The log-probs that importance ratios are against, where the algorithm takes no others: those that
   * the sampler recorded, before truncation, or the policy's own at the start of the step. Default
   * `rollout`, which is the same bit for bit where the policy sampled the trajectories itself and
   * truncated nothing.
   */
  readonly oldLogprobs?: 'rollout' | 'policy';
  /** The reference policy, for algorithms with a KL term; asked for once it is needed. */
  readonly reference?: () => Promise<Pick<Policy, 'score'>>;
  /** The coefficients of the algorithm that follow measurements. Default none. */
  readonly control?: CoefficientSettings;
}

/** How one call learns. */
export interface LearnOptions {
  /** How in-flight sampling requests are handled while weights change. Default `refuse`. */
  readonly inFlight?: NonNullable<OptimizerStep['inFlight']>;
  /** The coefficients that the step before gave. Default those of the algorithm. */
  readonly coefficients?: Coefficients;
}

/** Where learning stands: the gradient of a minibatch is there, or its optimizer step is taken. */
export type LearningPoint = 'gradient' | 'updated';

/** The result of a step of learning. */
export interface LearnResult {
  /** Sums over the minibatches for `loss`, of the last minibatch for everything else. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Tokens computed for training. */
  readonly tokenCount: number;
  /** Updates whose gradient was not finite: weights and moments stayed as they were. */
  readonly skippedUpdates: number;
  /** The coefficients of the next step, where some are adaptive. */
  readonly coefficients?: Coefficients;
}

/** Learns from batches of trajectories. */
export interface Learner {
  /**
   * Learns from the trajectories of a step.
   *
   * @param firstUpdate updates of the stage that came before, for the learning rate
   */
  learn(
    trained: readonly AdvantagedTrajectory[],
    firstUpdate: number,
    options?: LearnOptions,
  ): Promise<LearnResult>;
  /**
   * The same with a stop before and after every optimizer step, for callers that control when
   * weights change. It ends after the last step.
   */
  learnInParts(
    trained: readonly AdvantagedTrajectory[],
    firstUpdate: number,
    options?: LearnOptions,
  ): AsyncGenerator<LearningPoint, LearnResult>;
}

/** A learner of a policy by an algorithm. */
export function createLearner(options: LearnerOptions): Learner {
  const learnInParts: Learner['learnInParts'] = (trained, firstUpdate, learning = {}) =>
    learnStep(options, trained, firstUpdate, learning);
  return {
    learnInParts,
    async learn(...given) {
      const learning = learnInParts(...given);
      for (;;) {
        const part = await learning.next();
        if (part.done === true) return part.value;
      }
    },
  };
}

async function* learnStep(
  given: LearnerOptions,
  trained: readonly AdvantagedTrajectory[],
  firstUpdate: number,
  { inFlight = 'refuse', coefficients: last }: LearnOptions,
): AsyncGenerator<LearningPoint, LearnResult> {
  const { control } = given;
  const coefficients = last ?? (control && startingCoefficients(given.algorithm, control)) ?? {};
  const options = { ...given, algorithm: withCoefficients(given.algorithm, coefficients) };
  const { policy, optimizer, schedule, minibatches = 1 } = options;
  const { images, microBatchTokens = 8192, sharedPrefix = true } = options;
  const metrics: Record<string, number> = { loss: 0, grad_norm: 0, learning_rate: 0 };
  const packing = { images, microBatchTokens, sharedPrefix, minibatches };
  const step = await stage('packing', () => packStep(trained, packing), { rest: 'packing' });
  let tokenCount = 0;
  let skippedUpdates = 0;
  let entropySum = 0;
  if (step.minibatches.length === 0) return { metrics, tokenCount, skippedUpdates, coefficients };
  const prepared = await stage('scores', () => prepare(options, step));
  for (const [index, minibatch] of step.minibatches.entries()) {
    const { loss, ...learned } = await stage('gradient', () =>
      learnMinibatch(options, prepared, minibatch),
    );
    metrics.loss = (metrics.loss ?? 0) + loss;
    const minibatchTokens = minibatch.tokens[1] - minibatch.tokens[0];
    entropySum += (learned.entropy ?? Number.NaN) * minibatchTokens;
    for (const microBatch of minibatch.microBatches) tokenCount += microBatch.tokenCount;
    const learningRate = schedule(firstUpdate + index);
    yield 'gradient';
    const update = { ...(optimizer && { optimizer }), learningRate, inFlight };
    const { gradNorm, isSkipped } = await stage('optimizer', () => policy.optimizerStep(update), {
      rest: 'optimizer',
    });
    if (isSkipped) skippedUpdates++;
    // The last minibatch's metrics win: there the policy is furthest from the one that sampled.
    Object.assign(metrics, learned, { grad_norm: gradNorm, learning_rate: learningRate });
    if (index + 1 < step.minibatches.length) yield 'updated';
  }
  const all = { ...metrics, ...prepared.metrics, ...coefficientMetrics(coefficients) };
  if (control === undefined) return { metrics: all, tokenCount, skippedUpdates };
  const entropy = entropySum / step.tokens.lossMask.length;
  const measured = {
    kl: meanKl(options.algorithm, prepared.batch),
    ...(Number.isFinite(entropy) && { entropy }),
    sequences: prepared.counts.sequences,
  };
  const next = nextCoefficients(coefficients, measured, control);
  return { metrics: all, tokenCount, skippedUpdates, coefficients: next };
}

/** Scores the step as far as the algorithm needs it, and fixes its advantages. */
async function prepare(options: LearnerOptions, step: PackedStep): Promise<PreparedStep> {
  const { policy, algorithm, oldLogprobs: old = 'rollout', reference } = options;
  const needs = (input: string): boolean => algorithm.needs.includes(input);
  const isRescored =
    needs('values') || needs('rolloutLogprobs') || needs('sumSquaredProbs') || old === 'policy';
  const sumSquaredProbs = needs('sumSquaredProbs');
  const own = isRescored ? await scoreStep(options, policy, step, { sumSquaredProbs }) : undefined;
  const referred =
    needs('refLogprobs') && reference !== undefined
      ? await scoreStep(options, await reference(), step)
      : undefined;
  // An algorithm that takes the sampler's log-probs too corrects for the difference itself.
  const takesBoth = needs('rolloutLogprobs') || old === 'policy';
  const oldLogprobs = (takesBoth ? own?.logprobs : undefined) ?? step.untruncatedLogprobs;
  const prepared = prepareStep(algorithm, {
    ...step.tokens,
    // These need the same weights as the squared probabilities: else 1 − 2π + Σπ² may be below 0.
    oldLogprobs: (sumSquaredProbs ? own?.logprobs : undefined) ?? oldLogprobs,
    ...(own?.values && { values: own.values }),
    ...(own?.sumSquaredProbs && { sumSquaredProbs: own.sumSquaredProbs }),
    ...(referred && { refLogprobs: referred.logprobs }),
  });
  return { ...prepared, batch: { ...prepared.batch, oldLogprobs } };
}

/** A policy's scores of a step, in the step's order: [N] each. */
interface StepScores {
  readonly logprobs: Float64Array;
  values?: Float64Array;
  sumSquaredProbs?: Float64Array;
}

/**
 * A policy's log-probs, its values if it has a value head, and what is asked for.
 *
 * @throws ConfigError if the policy does not score what is asked for
 */
async function scoreStep(
  { algorithm, temperature = 1 }: LearnerOptions,
  policy: Pick<Policy, 'score'>,
  { minibatches, tokens }: PackedStep,
  options: ScoreOptions = {},
): Promise<StepScores> {
  const N = tokens.lossMask.length;
  const found: StepScores = { logprobs: new Float64Array(N) };
  for (const { packed, tokens: range } of minibatches.flatMap((one) => one.microBatches)) {
    const scores = await policy.score(packed, temperature, options);
    found.logprobs.set(scores.logprobs, range[0]);
    for (const name of ['values', 'sumSquaredProbs'] as const) {
      const part = scores[name];
      if (part === undefined) continue;
      found[name] ??= new Float64Array(N);
      found[name].set(part, range[0]);
    }
    if (options.sumSquaredProbs === true && scores.sumSquaredProbs === undefined) {
      throw new ConfigError(
        'algorithm',
        `${algorithm.name} needs sumSquaredProbs, which this policy does not score. ` +
          'Train a policy on local kernels, or choose another algorithm.',
      );
    }
  }
  return found;
}

/** Adds up the gradient of one minibatch over its micro-batches. */
async function learnMinibatch(
  { policy, algorithm, temperature = 1 }: LearnerOptions,
  prepared: PreparedStep,
  minibatch: StepMinibatch,
): Promise<Record<string, number> & { readonly loss: number }> {
  const { microBatches } = minibatch;
  const constants = rangeOf(prepared.batch, minibatch);
  let counts: GlobalCounts = countGlobally([constants]);
  let marks: Uint8Array | undefined;
  if (algorithm.select !== undefined) {
    // A selection over the whole minibatch has to see all of it before any part is learned from.
    const N = constants.lossMask.length;
    const logprobs = new Float64Array(N);
    const entropy = new Float64Array(N);
    for (const { packed, tokens } of microBatches) {
      const scores = await policy.score(packed, temperature);
      logprobs.set(scores.logprobs, tokens[0] - minibatch.tokens[0]);
      entropy.set(scores.entropy, tokens[0] - minibatch.tokens[0]);
    }
    const selection = algorithm.select({ ...constants, logprobs, entropy });
    counts = { ...counts, selectedTokens: selection.selectedTokens };
    marks = selection.marks;
  }
  const metrics: AlgorithmResult['metrics'][] = [];
  let loss = 0;
  for (const microBatch of microBatches) {
    const batch = rangeOf(prepared.batch, microBatch);
    const own = marks?.subarray(
      microBatch.tokens[0] - minibatch.tokens[0],
      microBatch.tokens[1] - minibatch.tokens[0],
    );
    const part = await policy.forwardBackward(
      microBatch.packed,
      (scores) => {
        const result = algorithm.loss({ ...batch, ...scores, ...(own && { marks: own }) }, counts);
        metrics.push(result.metrics);
        return result;
      },
      temperature,
    );
    loss += part.loss;
  }
  return { loss, ...finishMetrics(metrics, counts) };
}
