/** The five choices an algorithm is made of, as types. */
import type { FloatArray, GlobalCounts, TokenBatch } from './algorithm.ts';

/** [G] rewards of one group → [G] advantages. */
export type Advantage = (rewards: Float64Array) => Float64Array;

/** How the current policy's probabilities compare with those at the start of the step. */
export interface Ratio {
  /** [N] ρ. */
  forward(batch: TokenBatch): Float64Array;
  /** [N] ∂L/∂ρ → [N] ∂L/∂logprobs. */
  backward(batch: TokenBatch, ratios: Float64Array, gradRatios: Float64Array): Float64Array;
}

/** What a clipped token was clipped by: a word of metrics.ts. */
export type Clip = 'none' | 'low' | 'high' | 'dual';

/** A loss per token, not yet masked or aggregated, and its derivatives. */
export interface SurrogateValues {
  /** [N] loss to minimise. */
  readonly losses: Float64Array;
  /** [N] ∂losses/∂ρ. */
  readonly gradRatios: Float64Array;
  /** [N] ∂losses/∂logprobs at fixed ρ; absent means zero. */
  readonly gradLogprobs?: Float64Array;
  /** [N] which bound held each token back. */
  readonly clips: readonly Clip[];
}

export interface SurrogateInput {
  /** [N] ρ. */
  readonly ratios: Float64Array;
  /** [N] constant. */
  readonly advantages: FloatArray;
  /** [N] nats, current policy. */
  readonly logprobs: FloatArray;
}

export type Surrogate = (input: SurrogateInput) => SurrogateValues;

/** An estimate of KL(policy ‖ other) at one token, and its derivative by `logprob`. */
export type KlEstimate = (
  logprob: number,
  otherLogprob: number,
) => { readonly value: number; readonly grad: number };

/**
 * The weight of every token in the loss: loss = Σ weightₜ · lossₜ. All aggregations are of this
 * form, and with the step's counts in the denominator they add up over micro-batches.
 */
export type Aggregation = (
  lossMask: FloatArray,
  sequenceOffsets: Int32Array,
  counts: GlobalCounts,
) => Float64Array;
