/** How rewards become a loss: pure functions on typed arrays, gradients by log-prob in closed form. */

/** The tokens of a step, flat: N scored tokens of S sequences. Only model tokens are here. */
export interface TokenBatch {
  /** [N] nats, current policy. */
  readonly logprobs: Float32Array;
  /** [N] nats, at the start of the step, constant. */
  readonly oldLogprobs: Float32Array;
  /** [N] constant. */
  readonly advantages: Float32Array;
  /** [N] 1 where a token trains, 0 where it does not. */
  readonly lossMask: Float32Array;
  /** [S+1] sequence s owns tokens [offsets[s], offsets[s+1]). */
  readonly sequenceOffsets: Int32Array;
  /** [N] nats, reference policy, constant; only where a KL term needs it. */
  readonly refLogprobs?: Float32Array;
  /** [N] nats, current policy. */
  readonly entropy?: Float32Array;
}

/**
 * Denominators of the whole step, counted before it is split into micro-batches, so that splitting
 * never changes the loss.
 */
export interface GlobalCounts {
  /** Tokens with lossMask 1. */
  readonly tokens: number;
  /** Sequences with at least one such token. */
  readonly sequences: number;
}

export interface AlgorithmResult {
  readonly loss: number;
  /** [N] ∂loss/∂logprobs. */
  readonly gradLogprobs: Float32Array;
  /** [N] ∂loss/∂entropy, where the loss has an entropy term. */
  readonly gradEntropy?: Float32Array;
  /** Sums over this micro-batch, to be divided by the global counts by the caller: see metrics.ts. */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface Algorithm {
  readonly name: string;
  /** arXiv id or citation. */
  readonly paper: string;
  /** One sentence for people. */
  readonly description: string;
  /** [G] rewards of a group → [G] advantages. */
  advantages(rewards: Float64Array): Float64Array;
  loss(batch: TokenBatch, counts: GlobalCounts): AlgorithmResult;
}
