/** How trajectories are sampled: budgets, seed, temperature, truncation, and what stops them. */
import type { Truncation } from '@saccade/policy';
import type { ModelImages } from './model-images.ts';

/** How to sample; the same for all trajectories of a call. */
export interface SamplingOptions extends Truncation {
  readonly seed: number;
  /**
   * The purpose of the rollouts, e.g. `train/12`. It is part of their ids and of their random
   * address, so the same task in another stream gets other random numbers.
   */
  readonly stream?: string;
  /** Default 1; 0 takes the most likely token. */
  readonly temperature?: number;
  /** Budget of one model turn. */
  readonly maxTokensPerTurn: number;
  /** Budget of the whole context, placeholders of images included. */
  readonly maxContextTokens: number;
  /** Share it between calls to prepare every image once. */
  readonly images?: ModelImages;
  readonly signal?: AbortSignal;
}

/** How one trajectory is sampled. */
export interface RolloutOptions extends SamplingOptions {
  /** Index within the group. Default 0. */
  readonly sampleIndex?: number;
  /** Whether it is its group's baseline: sampled at temperature 0, and marked. Default false. */
  readonly isBaseline?: boolean;
  /**
   * Trajectories with the same key share the computation of their prompt. The caller releases the
   * key.
   */
  readonly sharedPrefixKey?: string;
  /** Stops only this trajectory: it ends as `failed`, with the cause `deadline` or `cancelled`. */
  readonly stop?: AbortSignal;
}
