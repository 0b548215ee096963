/** Models as units: choices of a run by name. */
import type { DType, EventSink } from '@saccade/core';
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Hub } from '@saccade/hub';
import type { Device } from '@saccade/ops';
import type { LanguageModel } from './models/language-model.ts';
import type { TrainingOptions } from './open-policy.ts';
import type { CheckpointProcessor } from './processor/checkpoint-processor.ts';
import type { TrainedPolicy } from './trained-policy.ts';

/** The context that a model gets from the run that opens it. */
export interface ModelContext {
  readonly device: Device;
  /** Seed of random weights. */
  readonly seed: number;
  /** Whether the policy also predicts returns. */
  readonly valueHead: boolean;
  /** Texts to train a tokenizer on, for models without one. */
  readonly corpus: readonly string[];
  /** Where published models are downloaded from; absent: nowhere. */
  readonly hub?: Hub;
  /** Reads a secret from an environment variable; absent: there are none. @throws ConfigError */
  readonly secret?: (field: string, variable: string) => string;
  /** Receives what a model has to say while it opens. */
  readonly onEvent?: EventSink;
  /** What the run will ask of it, so that a model that cannot do it is refused before any work. */
  readonly needs?: ModelNeeds;
}

/** What a run asks of a model besides log-probs. */
export interface ModelNeeds {
  /** Whether a loss has a gradient for entropies. */
  readonly entropy: boolean;
  /** Whether it is compared with the weights that it begins with. */
  readonly reference: boolean;
  /** Temperatures that it is scored at. */
  readonly temperatures: readonly number[];
}

/** A model before its weights are there. */
export interface ModelPlan {
  readonly model: LanguageModel;
  readonly processor: CheckpointProcessor;
  /** Element type of the weights. */
  readonly dtype: DType;
  readonly training: TrainingOptions;
}

/**
 * A model that a run chooses by name. Opening it makes the policy, with random or loaded weights.
 */
export interface ModelUnit<
  Schema extends SettingsSchema = SettingsSchema,
  Opened extends TrainedPolicy = TrainedPolicy,
> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** The model without its weights, for a forecast of memory. */
  plan?(
    settings: SettingsOf<Schema>,
    context: Pick<ModelContext, 'corpus' | 'hub'>,
  ): Promise<ModelPlan>;
  /** Makes the policy; the caller disposes of it. */
  open(settings: SettingsOf<Schema>, context: ModelContext): Promise<Opened>;
}

/** Defines a model for a catalog or a recipe. It returns `unit`, with its types inferred. */
export function defineModel<
  const Name extends string,
  Schema extends SettingsSchema,
  Opened extends TrainedPolicy,
>(
  unit: ModelUnit<Schema, Opened> & { readonly name: Name },
): ModelUnit<Schema, Opened> & { readonly name: Name } {
  return unit;
}
