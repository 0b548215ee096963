/** An engine as a run can choose it by name: what rollouts are sampled with instead of the policy. */
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { LocalPolicy } from '../local-policy.ts';
import type { Sampler } from '../policy.ts';

/** What a run gives an engine. */
export interface EngineContext {
  /** The policy whose weights it samples with. */
  readonly policy: LocalPolicy;
  /** Where weights may be written for it; a directory of the run's own. */
  readonly directory: string;
  /** Sampling temperatures of the run, for engines that cannot give log-probs at each. */
  readonly temperatures: readonly number[];
  /** A secret by the name of its environment variable. @throws ConfigError if it is not set */
  secret(field: string, variable: string): string;
}

export interface OpenEngine {
  readonly sampler: Sampler;
  /** Gives the sampler the policy's weights, if it has others. */
  sync(): Promise<void>;
}

export interface EngineUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** @throws EngineError if it cannot be reached or lacks something that rollouts need */
  open(settings: SettingsOf<Schema>, context: EngineContext): Promise<OpenEngine>;
}

/** An engine of one's own, for catalogs and recipes. */
export function defineEngine<const Name extends string, Schema extends SettingsSchema>(
  unit: EngineUnit<Schema> & { readonly name: Name },
): EngineUnit<Schema> & { readonly name: Name } {
  return unit;
}
