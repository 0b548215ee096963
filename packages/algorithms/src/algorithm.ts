/**
 * Turns rewards into a loss: pure functions on typed arrays, gradients by log-prob in closed form.
 *
 * An algorithm works in stages that see different things: a whole group
 * (`groupAdvantages`), the whole step (`tokenAdvantages`, `correct`), a whole minibatch at the
 * current log-probs (`select`), one micro-batch (`loss`). `composeAlgorithm` in compose.ts builds
 * one from units; pipeline.ts runs the first stages of a step in their order.
 */

import type { z } from 'zod';

/** Values in either precision; sums are always taken in float64. */
export type FloatArray = Float32Array | Float64Array;

/** The trajectories of one task with their rewards. */
export interface ScoredGroup {
  /** [G] */
  readonly rewards: FloatArray;
  /** [G] tokens that train. */
  readonly tokenCounts?: ArrayLike<number>;
  /** The reward's components by name, [G] each, unweighted. */
  readonly terms?: Readonly<Record<string, FloatArray>>;
  /** Weight of each component, 1 where it is not given. Each must name a component of `terms`. */
  readonly termWeights?: Readonly<Record<string, number>>;
  /** Reward of the greedy answer to the same task. */
  readonly greedyReward?: number;
}

/** All tokens of a step, flat: N tokens of S sequences. It is never split. */
export interface Step {
  /** [S+1] sequence s owns tokens [offsets[s], offsets[s+1]). */
  readonly sequenceOffsets: Int32Array;
  /** [N] 1 where a token trains, 0 where it does not. */
  readonly lossMask: FloatArray;
  /** [S] index of each sequence's group; any integers. */
  readonly groups: Int32Array;
  /** [S] the result of `groupAdvantages`. */
  readonly sequenceAdvantages: FloatArray;
  /** [S] */
  readonly rewards: FloatArray;
  /** [N] reward at each token; without it `rewards[s]` is placed on the last token that trains. */
  readonly tokenRewards?: FloatArray;
  /** [N] the mask before rejection, where rewards are placed before it; from `prepareStep`. */
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
  /** [N] Σ over the vocabulary of the squared probabilities, at the start of the step. */
  readonly sumSquaredProbs?: FloatArray;
}

export interface TokenAdvantages {
  /** [N] 0 where a token does not train. */
  readonly advantages: Float64Array;
  /** [N] targets of the value function, where there is one. */
  readonly returns?: Float64Array;
}

/** The correction for the difference between sampling engine and trainer, once per step. */
export interface Correction {
  /** [N] constant factor of each token's surrogate loss. */
  readonly tokenWeights: Float64Array;
  /** [N] the step's mask without what was rejected. */
  readonly lossMask: Float64Array;
  readonly metrics: Readonly<Record<string, number>>;
}

/** The tokens selected over a whole minibatch at its current log-probs. */
export interface Selection {
  /** [N] bits of `mark` in marks.ts, constant for the gradient. */
  readonly marks: Uint8Array;
  /** Tokens that train and were not left out by their entropy: into `GlobalCounts`. */
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
  /** [N] nats, reference policy, constant; only where a KL term needs it. */
  readonly refLogprobs?: FloatArray;
  /** [N] nats, the engine that sampled, constant; only where the ratio is decoupled. */
  readonly rolloutLogprobs?: FloatArray;
  /** [N] nats, current policy. */
  readonly entropy?: FloatArray;
  /** [N] constant, from `correct`; without it all are 1. */
  readonly tokenWeights?: FloatArray;
  /** [N] constant, from `select`. */
  readonly marks?: Uint8Array;
  /** [N] the value function's prediction now. */
  readonly values?: FloatArray;
  /** [N] its prediction at the start of the step, constant. */
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
  /** Sequences without one; 0 if it is not given. */
  readonly emptySequences?: number;
  /** From `select`, where there is one. */
  readonly selectedTokens?: number;
}

export interface AlgorithmResult<Floats extends FloatArray = FloatArray> {
  readonly loss: number;
  /** [N] ∂loss/∂logprobs, in the precision of `logprobs`. */
  readonly gradLogprobs: Floats;
  /** [N] ∂loss/∂entropy, where the loss has an entropy term. */
  readonly gradEntropy?: Floats;
  /** [N] ∂loss/∂values, where the loss has a value term. */
  readonly gradValues?: Floats;
  /** Sums over this micro-batch; `finishMetrics` in metrics.ts makes them the step's metrics. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Numbers, names and flags of an algorithm, e.g. `{ clipLow: 0.2, kl: 'k3' }`. */
export type AlgorithmSettings = Readonly<Record<string, number | string | boolean>>;

/** Why a token counts for nothing, or `trained`: the causes of marks.ts. */
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

export interface Algorithm {
  readonly name: string;
  /** arXiv id or citation. */
  readonly paper: string;
  /** One sentence for people. */
  readonly description: string;
  readonly settings: AlgorithmSettings;
  /** Names `profile` takes. */
  readonly profiles: readonly string[];
  /** The fields of `settings` as a zod object: meaning, unit, range, and these values as defaults. */
  readonly schema: z.ZodObject;
  /** Settings that have an effect at these values; the others wait for a unit that reads them. */
  readonly reads: readonly string[];
  /** Whether advantages come from rewards, or from a teacher's log-probs. */
  readonly signal: 'reward' | 'teacher';
  /** Inputs beyond rewards, log-probs and advantages that must be there, e.g. `values`. */
  readonly needs: readonly string[];
  /** Stages that do more than pass on: without them the algorithm is another one. */
  readonly stages: readonly ('tokenAdvantages' | 'correct' | 'select')[];
  /** Whether the loss treats its ratio as a constant: its gradient is that at fixed ρ. */
  readonly isRatioConstant: boolean;
  /** The same algorithm with other settings. @throws ConfigError for one it does not have */
  with(changes: AlgorithmSettings): Algorithm;
  /** The same algorithm as a paper or library has it. @throws ConfigError naming its profiles */
  profile(name: string): Algorithm;
  /** [G] advantages of a whole group. */
  groupAdvantages(group: ScoredGroup): Float64Array;
  /** Advantages of every token of a whole step. */
  tokenAdvantages(step: Step): TokenAdvantages;
  /** Weights and mask of a whole step; absent where there is no correction. */
  readonly correct?: (step: Step) => Correction;
  /** Marks of a whole minibatch at its current log-probs; absent where nothing is selected. */
  readonly select?: (minibatch: TokenBatch) => Selection;
  loss<Floats extends FloatArray>(
    batch: TokenBatch<Floats>,
    counts: GlobalCounts,
  ): AlgorithmResult<Floats>;
  /** Tells what `loss` does with each token. */
  table(batch: TokenBatch, counts: GlobalCounts): TokenTable;
}
