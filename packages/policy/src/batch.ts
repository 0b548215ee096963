/** The batch that a trainer passes to a policy: packed segments, and the tokens to score. */

/** An image, or a clip of a video, prepared for the vision tower. */
export interface ModelImage {
  /**
   * [grids·gridHeight·gridWidth, channels·temporalPatch·patch·patch] normalized pixels: one grid
   * after another, the patches of each in merge order.
   */
  readonly patches: Float32Array;
  /** Patches per column and per row of a grid. */
  readonly gridHeight: number;
  readonly gridWidth: number;
  /** Grids: the frames of a clip, or the tiles of an image that is cut into some. Default 1. */
  readonly grids?: number;
  /** True for a clip, whose placeholders are those of videos. */
  readonly isClip?: boolean;
  /** Of a clip: seconds from one grid to the next. Default 1. */
  readonly secondsPerGrid?: number;
  /** Placeholder tokens: grids·gridHeight·gridWidth / mergeSize². */
  readonly tokenCount: number;
  /** Size after resizing, pixels. */
  readonly width: number;
  readonly height: number;
}

/** A node of the packed forest: its tokens continue those of its parent. */
export interface PackedSegment {
  readonly tokens: Int32Array;
  /** Index of an earlier segment, or −1 for a root. */
  readonly parent: number;
  /** Images whose placeholders lie in `tokens`, in order. */
  readonly images: readonly ModelImage[];
}

/**
 * Segments in depth-first pre-order and the N tokens to score. A group is one root (prompt and its
 * images, computed once) with G children.
 */
export interface PackedBatch {
  readonly segments: readonly PackedSegment[];
  /** [N] packed index of the token whose hidden state predicts the target. Repeats are allowed. */
  readonly rows: Int32Array;
  /** [N] token ids to score. */
  readonly targets: Int32Array;
}

/** Value and gradients of a loss at the scored tokens. */
export interface LossAndGradients {
  readonly loss: number;
  /** [N] ∂loss/∂logprobs. */
  readonly gradLogprobs: Float32Array;
  /** [N] ∂loss/∂entropy; absent means zero. */
  readonly gradEntropy?: Float32Array;
  /** [N] ∂loss/∂values; absent means zero. */
  readonly gradValues?: Float32Array;
}

/** A policy's scores of a batch's targets. */
export interface Scores {
  /** [N] nats. */
  readonly logprobs: Float32Array;
  /** [N] nats, of the distribution the target was drawn from. */
  readonly entropy: Float32Array;
  /** [N] expected return before the target is chosen; only of a policy with a value head. */
  readonly values?: Float32Array;
  /** [N] Σ over the vocabulary of the squared probabilities; only where it was asked for. */
  readonly sumSquaredProbs?: Float32Array;
}

/** Quantities to score besides log-probs and entropies. */
export interface ScoreOptions {
  /** Whether to give `sumSquaredProbs`: a second pass of the LM head. Default false. */
  readonly sumSquaredProbs?: boolean;
}

/** A loss as a pure function of the scores. */
export type LossFunction = (scores: Scores) => LossAndGradients;
