/** What a learner server serves: policies that it opens as clients ask for models. */
import type { FixedPolicy, LocalPolicy, TrainedPolicy } from '@saccade/policy';
import type { Tensor } from '@saccade/tensor';
import type { LoraConfig } from '../wire/schemas.ts';

/** A model that a client asks for. */
export interface ModelSpec {
  readonly baseModel: string;
  /** The adapter to train; absent: whole weights. */
  readonly lora?: LoraConfig;
  /** Whether it predicts returns too. */
  readonly valueHead?: boolean;
  /** A directory that a policy of this server was saved in, to begin with. */
  readonly from?: string;
}

/** A policy that is served, and what else there is to know of it. */
export interface ServedLearner {
  /** The server disposes of it. */
  readonly policy: TrainedPolicy;
  /** Its tensors by name, for checksums; absent where they are not at hand. */
  tensors?(): Readonly<Record<string, Tensor>>;
  /** Accumulated gradients by name, for conformance. */
  gradients?(): Readonly<Record<string, Tensor>>;
  /** The base that it began with, held fixed. */
  reference(): Promise<FixedPolicy>;
}

/** The models of a server. */
export interface LearnerModels {
  /** Names of bases. */
  readonly names: readonly string[];
  readonly vocabSize?: number;
  readonly architecture?: string;
  readonly hasValues?: boolean;
  /** Opens a model with its first weights. @throws ConfigError if it does not know the base */
  open(spec: ModelSpec): Promise<ServedLearner>;
}

/**
 * A policy on local kernels as a server serves it.
 *
 * @param openBase opens the base again, as the reference of whole weights that train
 */
export function servedLocal(
  policy: LocalPolicy,
  openBase: () => Promise<LocalPolicy>,
): ServedLearner {
  return {
    policy,
    tensors: () => policy.parameters,
    gradients: () => policy.gradients,
    async reference() {
      // Below an adapter the base does not move.
      if (policy.hasAdapter) return { ...policy.baseScorer, dispose() {} };
      return await openBase();
    },
  };
}
