/** How trajectories are sampled: budgets, seed, temperature, and what stops them. */
import type { ModelImages } from './model-images.ts';

/** How to sample; the same for all trajectories of a call. */
export interface SamplingOptions {
  readonly seed: number;
  /**
   * Says what the rollouts are for, e.g. `train/12`. Part of their ids and of their random address:
   * the same task under another stream is another draw.
   */
  readonly stream?: string;
  /** Default 1; 0 takes the most likely token. */
  readonly temperature?: number;
  /** Budget of one model turn. */
  readonly maxTokensPerTurn: number;
  /** Budget of the whole context, placeholders of pictures included. */
  readonly maxContextTokens: number;
  /** Share it between calls to prepare every picture once. */
  readonly images?: ModelImages;
  readonly signal?: AbortSignal;
}

/** How one trajectory is sampled. */
export interface RolloutOptions extends SamplingOptions {
  /** Index within the group. Default 0. */
  readonly sampleIndex?: number;
  /** Whether it is its group's baseline: sampled at temperature 0, and marked. Default false. */
  readonly isBaseline?: boolean;
  /** Trajectories with the same key share their prompt's computation; whoever names it releases it. */
  readonly sharedPrefixKey?: string;
  /** Stops this trajectory alone: it ends as `failed`, its failure's cause `deadline` or `cancelled`. */
  readonly stop?: AbortSignal;
}
