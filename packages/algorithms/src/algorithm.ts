/**
 * How rewards become a loss: pure functions on typed arrays, gradients by log-prob in closed form.
 *
 * An algorithm is five choices (advantage, ratio, surrogate, KL, aggregation) and their numbers;
 * `composeAlgorithm` in loss.ts joins them.
 */

/** Values may come in either precision; sums are always taken in float64. */
export type FloatArray = Float32Array | Float64Array;

/** The tokens of a step, flat: N scored tokens of S sequences. Only model tokens are here. */
export interface TokenBatch {
  /** [N] nats, current policy. */
  readonly logprobs: FloatArray;
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
  /** [N] nats, current policy. */
  readonly entropy?: FloatArray;
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
  /** Sums over this micro-batch; `finishMetrics` in metrics.ts makes them the step's metrics. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** The numbers of an algorithm by name, e.g. `{ clipLow: 0.2, clipHigh: 0.28 }`. */
export type AlgorithmSettings = Readonly<Record<string, number>>;

export interface Algorithm {
  readonly name: string;
  /** arXiv id or citation. */
  readonly paper: string;
  /** One sentence for people. */
  readonly description: string;
  readonly settings: AlgorithmSettings;
  /** The same algorithm with other numbers. @throws ConfigError for a number it does not have */
  with(changes: AlgorithmSettings): Algorithm;
  /** [G] rewards of a group → [G] advantages. */
  advantages(rewards: Float64Array): Float64Array;
  loss(batch: TokenBatch, counts: GlobalCounts): AlgorithmResult;
}
