/**
 * Turns rewards into a loss: pure functions on typed arrays, gradients by log-prob in closed form.
 *
 * An algorithm works in stages, which see different amounts: a whole group
 * (`groupAdvantages`), the whole step (`tokenAdvantages`, `correct`), a whole minibatch at the
 * current log-probs (`select`), one micro-batch (`loss`). `composeAlgorithm` in compose.ts builds
 * one from units; pipeline.ts runs the first stages of a step in their order.
 */

import type { z } from 'zod';

/** Values in either precision; sums are always taken in float64. */
export type FloatArray = Float32Array | Float64Array;

/** The trajectories of one task with their rewards. */
export interface ScoredGroup {
  /** [G] reward of each trajectory. */
  readonly rewards: FloatArray;
  /** [G] number of tokens that train. */
  readonly tokenCounts?: ArrayLike<number>;
  /** The reward's components by name, [G] each, unweighted. */
  readonly terms?: Readonly<Record<string, FloatArray>>;
  /** Weight of each component, 1 where it is not given. Each must name a component of `terms`. */
  readonly termWeights?: Readonly<Record<string, number>>;
  /** Reward of the greedy answer to the same task. */
  readonly greedyReward?: number;
}

/** All tokens of a step, flat: N tokens of S sequences. A step is never split. */
export interface Step {
  /** [S+1] sequence s owns tokens [offsets[s], offsets[s+1]). */
  readonly sequenceOffsets: Int32Array;
  /** [N] 1 where a token trains, 0 where it does not. */
  readonly lossMask: FloatArray;
  /** [S] index of each sequence's group; any integers. */
  readonly groups: Int32Array;
  /** [S] the result of `groupAdvantages`. */
  readonly sequenceAdvantages: FloatArray;
  /** [S] reward of each sequence. */
  readonly rewards: FloatArray;
  /** [N] reward at each token; without it `rewards[s]` is placed on the last token that trains. */
  readonly tokenRewards?: FloatArray;
  /** [N] the mask before rejection, if rewards are placed before it; from `prepareStep`. */
  readonly rewardMask?: FloatArray;
  /** [N] the weights of `correct`; from `prepareStep`. */
  readonly tokenWeights?: FloatArray;
  /** [N] the value function's prediction before each token, at the start of the step. */
  readonly values?: FloatArray;
  /** [N] index of each token's turn within its sequence, counted from 0. */
  readonly turns?: Int32Array;
  /** [S+1] sequence s owns turns [turnOffsets[s], turnOffsets[s+1]) of `turnRewards`. */
  readonly turnOffsets?: Int32Array;
  /** [K] reward of each turn. */
  readonly turnRewards?: FloatArray;
  /** [N] nats, by the trainer at the start of the step. */
  readonly oldLogprobs?: FloatArray;
  /** [N] nats, by the engine that sampled. */
  readonly rolloutLogprobs?: FloatArray;
  /** [N] nats, reference policy. */
  readonly refLogprobs?: FloatArray;
  /** [N] Σ_v π(v)² over the vocabulary, at the start of the step. */
  readonly sumSquaredProbs?: FloatArray;
}

/** The result of an algorithm's token stage for a whole step. */
export interface TokenAdvantages {
  /** [N] constant for the gradient; 0 where a token does not train. */
  readonly advantages: Float64Array;
  /** [N] targets of the value function, if the algorithm has one. */
  readonly returns?: Float64Array;
}

/** The correction for the difference between sampling engine and trainer, once per step. */
export interface Correction {
  /** [N] constant factor of each token's surrogate loss. */
  readonly tokenWeights: Float64Array;
  /** [N] the step's mask without the rejected tokens. */
  readonly lossMask: Float64Array;
  readonly metrics: Readonly<Record<string, number>>;
}

/** The tokens selected over a whole minibatch at its current log-probs. */
export interface Selection {
  /** [N] bits of `mark` in marks.ts, constant for the gradient. */
  readonly marks: Uint8Array;
  /** Tokens that train and were not left out because of their entropy; for `GlobalCounts`. */
  readonly selectedTokens: number;
}

/** The tokens of a micro-batch, flat: N scored tokens of S whole sequences. */
export interface TokenBatch<Floats extends FloatArray = FloatArray> {
  /** [N] nats, current policy. */
  readonly logprobs: Floats;
  /** [N] nats, at the start of the step, constant. */
  readonly oldLogprobs: FloatArray;
  /** [N] constant. */
  readonly advantages: FloatArray;
  /** [N] 1 where a token trains, 0 where it does not. */
  readonly lossMask: FloatArray;
  /** [S+1] sequence s owns tokens [offsets[s], offsets[s+1]). */
  readonly sequenceOffsets: Int32Array;
  /** [N] nats, reference policy, constant; only if a KL term needs it. */
  readonly refLogprobs?: FloatArray;
  /** [N] nats, the engine that sampled, constant; only if the ratio needs it. */
  readonly rolloutLogprobs?: FloatArray;
  /** [N] nats, current policy. */
  readonly entropy?: FloatArray;
  /** [N] constant, from `correct`. Default: all 1. */
  readonly tokenWeights?: FloatArray;
  /** [N] constant, from `select`. */
  readonly marks?: Uint8Array;
  /** [N] the value function's prediction now. */
  readonly values?: FloatArray;
  /** [N] the prediction at the start of the step, constant. */
  readonly oldValues?: FloatArray;
  /** [N] constant, from `tokenAdvantages`. */
  readonly returns?: FloatArray;
}

/**
 * Denominators of the whole minibatch, counted before it is split into micro-batches, so that
 * splitting never changes the loss.
 */
export interface GlobalCounts {
  /** Tokens with lossMask 1. */
  readonly tokens: number;
  /** Sequences with at least one such token. */
  readonly sequences: number;
  /** Sequences without such a token. Default 0. */
  readonly emptySequences?: number;
  /** From `select`, if the algorithm selects tokens. */
  readonly selectedTokens?: number;
}

/**
 * Loss and gradients of a micro-batch. Losses and metrics of the micro-batches of a minibatch add
 * up, because the denominators are those of the whole minibatch.
 */
export interface AlgorithmResult<Floats extends FloatArray = FloatArray> {
  /** To minimize; the micro-batch's share of the minibatch's loss. */
  readonly loss: number;
  /** [N] ∂loss/∂logprobs, in the precision of `logprobs`. */
  readonly gradLogprobs: Floats;
  /** [N] ∂loss/∂entropy, if the loss has an entropy term. */
  readonly gradEntropy?: Floats;
  /** [N] ∂loss/∂values, if the loss has a value term. */
  readonly gradValues?: Floats;
  /** Sums over this micro-batch, from which `finishMetrics` computes the step's metrics. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Numbers, names and flags of an algorithm, e.g. `{ clipLow: 0.2, kl: 'k3' }`. */
export type AlgorithmSettings = Readonly<Record<string, number | string | boolean>>;

/** How `loss` treats each token of a micro-batch: ratio, clip, weight, and cause of no loss. */
export interface TokenTable {
  /** [N] importance ratios. */
  readonly ratios: Float64Array;
  /** [N] indices into `clipNames`. */
  readonly clips: Uint8Array;
  /** [N] factor of each token's surrogate loss in the step's loss: aggregation × correction. */
  readonly weights: Float64Array;
  /** [N] indices into `maskCauses`. */
  readonly causes: Uint8Array;
}

/**
 * Turns rewards into a loss and its gradients by log-prob, in stages; it needs no model. An
 * algorithm is immutable: `with` and `profile` return another one. `composeAlgorithm` makes one
 * from units.
 */
export interface Algorithm {
  /** Kebab-case name in the registry. */
  readonly name: string;
  /** arXiv id or citation. */
  readonly paper: string;
  /** One sentence for people. */
  readonly description: string;
  /** All settings with their values. */
  readonly settings: AlgorithmSettings;
  /** Names that `profile` accepts, such as `paper`, `trl` and `verl`. */
  readonly profiles: readonly string[];
  /**
   * The fields of `settings` as a zod object: meaning, unit, range, and these values as defaults.
   */
  readonly schema: z.ZodObject;
  /**
   * Settings that have an effect at these values. The others belong to units that are not chosen.
   */
  readonly reads: readonly string[];
  /** Whether advantages come from rewards, or from a teacher's log-probs. */
  readonly signal: 'reward' | 'teacher';
  /** Required inputs beyond rewards, log-probs and advantages, for example `values`. */
  readonly needs: readonly string[];
  /** Stages that have an effect. A trainer that skips one of them trains another algorithm. */
  readonly stages: readonly ('tokenAdvantages' | 'correct' | 'select')[];
  /** Whether the loss treats its ratio ρ as a constant for the gradient. */
  readonly isRatioConstant: boolean;
  /**
   * The algorithm with other settings. @throws ConfigError if a setting is unknown or out of range
   */
  with(changes: AlgorithmSettings): Algorithm;
  /** The algorithm as a paper or library defines it. @throws ConfigError listing its profiles */
  profile(name: string): Algorithm;
  /** Advantages [G] of a whole group, before any trajectory is dropped. */
  groupAdvantages(group: ScoredGroup): Float64Array;
  /** Advantages of every token of a whole step. */
  tokenAdvantages(step: Step): TokenAdvantages;
  /** Weights and mask of a whole step; absent if there is no correction. */
  readonly correct?: (step: Step) => Correction;
  /** Marks of a whole minibatch at its current log-probs; absent if nothing is selected. */
  readonly select?: (minibatch: TokenBatch) => Selection;
  /**
   * Loss and gradients of a micro-batch.
   *
   * @param counts  of the whole minibatch, counted before it was split
   * @throws ConfigError if an input is missing; DataError naming an input or result that is not
   *   finite
   */
  loss<Floats extends FloatArray>(
    batch: TokenBatch<Floats>,
    counts: GlobalCounts,
  ): AlgorithmResult<Floats>;
  /** Explains what `loss` does with each token. */
  table(batch: TokenBatch, counts: GlobalCounts): TokenTable;
}
