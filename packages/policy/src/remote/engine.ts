/** Engines as units: what samples a run's rollouts instead of the policy itself. */
import type { EventSink } from '@saccade/core';
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Sampler } from '../policy.ts';
import type { TrainedPolicy } from '../trained-policy.ts';

/** The context that an engine gets from the run that opens it. */
export interface EngineContext {
  /** The policy whose weights the engine samples with. */
  readonly policy: TrainedPolicy;
  /** Directory of the run in which weights for the engine may be written. */
  readonly directory: string;
  /**
   * Sampling temperatures of the run, since some engines cannot report log-probs at all of them.
   */
  readonly temperatures: readonly number[];
  /** Whether rollouts or evaluations of the run use topK, topP or minP. */
  readonly truncates: boolean;
  /** Reads a secret from an environment variable. @throws ConfigError if it is not set */
  secret(field: string, variable: string): string;
  /** Receives warnings, as of an engine that was lost and is back. */
  readonly onEvent?: EventSink;
}

/** An engine that a run has opened. */
export interface OpenEngine {
  /** Samples the run's rollouts. */
  readonly sampler: Sampler;
  /** Updates the engine to the policy's current weights, unless it has them already. */
  sync(): Promise<void>;
  /** Lets go of it; absent where there is nothing to let go of. */
  dispose?(): void;
}

/** An engine that a run chooses by name, with its own settings. */
export interface EngineUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /**
   * Opens the engine.
   *
   * @throws EngineError if it cannot be reached or lacks a capability that rollouts need
   */
  open(settings: SettingsOf<Schema>, context: EngineContext): Promise<OpenEngine>;
}

/** Defines an engine for a catalog or a recipe. It returns `unit`, with its types inferred. */
export function defineEngine<const Name extends string, Schema extends SettingsSchema>(
  unit: EngineUnit<Schema> & { readonly name: Name },
): EngineUnit<Schema> & { readonly name: Name } {
  return unit;
}
