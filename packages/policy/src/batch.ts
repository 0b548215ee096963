/** The batch that a trainer passes to a policy: packed segments, and the tokens to score. */

/** An image, or a video, prepared for the vision tower. */
export interface ModelImage {
  /**
   * [grids·gridHeight·gridWidth, 3·temporalPatch·patch·patch] normalized pixels: one grid after
   * another, the patches of a grid in merge order (row by row where nothing is merged).
   */
  readonly patches: Float32Array;
  /** Patches per column and per row of a grid. */
  readonly gridHeight: number;
  readonly gridWidth: number;
  /** Placeholder tokens: grids·gridHeight·gridWidth / mergeSize². */
  readonly tokenCount: number;
  /** Size after resizing, pixels; of an image in tiles without the overview. */
  readonly width: number;
  readonly height: number;
  /**
   * Grids of patches: the tiles of an image, row by row, and the overview after them; or the
   * moments of a video. Absent: one.
   */
  readonly grids?: number;
  /** Tiles per column and per row of an image that was cut. Absent: it is whole. */
  readonly tiles?: { readonly rows: number; readonly columns: number };
  /** Times of a video. Absent: this is an image. */
  readonly video?: VideoTimes;
  /** The file that it was made from, where it is an image's: a learner elsewhere is sent this. */
  readonly source?: Uint8Array;
}

/** The moments that a video's frames show. */
export interface VideoTimes {
  /** Time of each frame, seconds from the start. */
  readonly timestamps: readonly number[];
  /** Length of the whole video, seconds; unset where only the frames are known. */
  readonly durationSeconds?: number;
  /** Seconds from one grid of patches to the next (`second_per_grid_ts`), where positions use it. */
  readonly secondsPerGrid?: number;
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
