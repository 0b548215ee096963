/** A model as a run can choose it by name: what makes a policy with fresh or loaded weights. */
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Device } from '@saccade/ops';
import type { LocalPolicy } from './local-policy.ts';

/** What a run gives a model. */
export interface ModelContext {
  readonly device: Device;
  /** Seed of random weights. */
  readonly seed: number;
  /** Whether the policy also predicts returns. */
  readonly valueHead: boolean;
  /** Texts to train a tokenizer on, for models that bring none. */
  readonly corpus: readonly string[];
}

export interface ModelUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  open(settings: SettingsOf<Schema>, context: ModelContext): Promise<LocalPolicy>;
}

/** A model of one's own, for catalogs and recipes. */
export function defineModel<const Name extends string, Schema extends SettingsSchema>(
  unit: ModelUnit<Schema> & { readonly name: Name },
): ModelUnit<Schema> & { readonly name: Name } {
  return unit;
}
