/**
 * The interface of a policy that a run trains, wherever its weights are: on local kernels, or with a
 * worker on other machines. Loops, units and commands know this, not a class.
 */
import type { EngineSettings } from './engine/engine-settings.ts';
import type { Policy } from './policy.ts';
import type { CheckpointProcessor } from './processor/checkpoint-processor.ts';

/** A policy that is held fixed, for its scores. */
export type FixedPolicy = Pick<Policy, 'score'> & { dispose(): void | Promise<void> };

/** How a policy opens a reference whose weights are in a directory of this machine. */
export interface ReferenceOptions {
  /** Opens whole weights on the run's device. */
  openWhole(directory: string): Promise<FixedPolicy & { readonly processor: CheckpointProcessor }>;
}

/** Weights that an engine samples with, and how they reach it. */
export interface PublishTarget {
  /**
   * `lora`: an adapter that vLLM loads; `disk` and `sglang-disk`: whole weights in a directory that
   * both see, for vLLM and SGLang; `nccl`: from device to device.
   */
  readonly kind: 'lora' | 'disk' | 'nccl' | 'sglang-disk';
  /** Addresses of the engines. */
  readonly urls: readonly string[];
  /** Directory that worker and engines see. */
  readonly directory?: string;
}

/** What engines have after a publication. */
export interface Published {
  /** Optimizer steps of the weights. */
  readonly version: number;
  /** SHA-256, hex, over a fixed sample of the tensors. */
  readonly checksum: string;
  /** The version that each engine says it serves. */
  readonly served: readonly { readonly url: string; readonly version: string }[];
}

/**
 * A policy with weights that train. Its checkpoints are directories: weights, or a record of where
 * a worker keeps them.
 */
export interface TrainedPolicy extends Policy {
  readonly processor: CheckpointProcessor;
  /** Number of weights, over all parameters; absent where a worker does not tell. */
  readonly parameterCount?: number;
  /** Tokens that it has logits of; absent where a worker does not tell. */
  readonly vocabSize?: number;
  /** Whether it trains a low-rank adapter beside frozen weights. */
  readonly hasAdapter: boolean;
  /** Whether the log-probs of samples are, bit for bit, those that scoring gives. */
  readonly samplesAsItScores: boolean;
  /** Changes how it samples. @throws ConfigError if a setting has no effect where it samples */
  configureEngine(settings: Partial<EngineSettings>): void;
  /** Forgets the optimizer's state, as at the start of another training stage. */
  resetOptimizer(): void | Promise<void>;
  /**
   * Gives back what `save` keeps elsewhere for a directory that is about to be removed; nothing where it
   * is needed all the same. Absent where the directory holds all.
   *
   * @throws if a worker cannot be asked now
   */
  forget?(directory: string): Promise<void>;
  /**
   * The policy that a directory means, held fixed.
   *
   * @throws ConfigError if its tokens are not this policy's; DataError if it is damaged
   */
  openReference(directory: string, options: ReferenceOptions): Promise<FixedPolicy>;
  /**
   * Sends the weights to engines, without passing them through this process. Absent where `save`
   * writes them on this machine.
   */
  publish?(target: PublishTarget): Promise<Published>;
  dispose(): void | Promise<void>;
}
