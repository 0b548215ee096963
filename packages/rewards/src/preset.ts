/** The reward of a published system: weighted terms, with the provenance of every number. */
import { quantity, readSettings, type SettingsSchema, type Unit } from '@saccade/core/settings';
import { z } from 'zod';
import type { RewardUnit } from './define-reward.ts';
import type { Constant, Provenance } from './provenance.ts';
import { sourced } from './provenance.ts';
import type { RewardTerm } from './score.ts';

/** A term of a preset, with its weight and the source of that weight. */
export interface PresetTerm {
  /** The term with the settings that the preset gives it. */
  readonly reward: RewardUnit;
  readonly weight: Constant<number>;
}

/**
 * A weighted sum of terms. Its settings are those of its terms, by the term's name, each with a
 * `weight`: `{ repetition: { weight: 1, moderateWords: 6 } }`.
 */
export interface RewardPreset extends Unit {
  /** `codevision` as the paper describes it, `codevision/code` as the public code computes it. */
  readonly name: string;
  readonly paper: string;
  readonly terms: readonly PresetTerm[];
  /** Notes on the metadata and judges that the terms use, and on how code and paper differ. */
  readonly notes: readonly string[];
}

/** The argument of `definePreset`. The settings are composed of those of the terms. */
export interface PresetDefinition extends Omit<RewardPreset, 'settings' | 'notes'> {
  readonly notes?: readonly string[];
}

/** A term of a preset with its weight. */
export function term(reward: RewardUnit, weight: number, from: Provenance): PresetTerm {
  return { reward, weight: sourced(weight, from) };
}

/** A preset; its schema is composed of its terms'. */
export function definePreset(definition: PresetDefinition): RewardPreset {
  const { terms, notes = [] } = definition;
  const fields = terms.map(({ reward, weight }) => [reward.name, termSchema(reward, weight.value)]);
  return { ...definition, notes, settings: z.strictObject(Object.fromEntries(fields)) };
}

/** The settings of one term, with its present values as defaults, and its weight. */
function termSchema(reward: RewardUnit, weight: number): z.ZodType {
  const shape: Record<string, z.ZodType> = {
    weight: quantity({
      min: -1000,
      max: 1000,
      default: weight,
      unit: 'factor',
      about: `Weight of ${reward.name} in the sum; 0 leaves it out of the reward.`,
    }),
  };
  for (const [name, field] of Object.entries(reward.settings.shape)) {
    const type = field as z.ZodType;
    const inner = type instanceof z.ZodDefault ? (type.def.innerType as z.ZodType) : type;
    shape[name] = inner.default(reward.values[name]).meta(type.meta() ?? {});
  }
  return z.strictObject(shape).prefault({});
}

/** Changes of a preset's terms, by the term's name: its settings, or its weight alone. */
export type TermSettings = Readonly<Record<string, number | Readonly<Record<string, unknown>>>>;

/**
 * The terms of a preset as scoring takes them.
 *
 * @param given settings by the term's name; what is left out has the preset's value
 * @throws ConfigError naming the field, what came and what was expected
 */
export function termsOf(preset: RewardPreset, given: TermSettings = {}): readonly RewardTerm[] {
  const written = Object.entries(given).map(([name, own]) => [
    name,
    typeof own === 'number' ? { weight: own } : own,
  ]);
  const values = readSettings<SettingsSchema>(
    'reward',
    preset.settings,
    Object.fromEntries(written),
  ) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  return preset.terms.map(({ reward }) => {
    const { weight, ...own } = values[reward.name] ?? {};
    const changed = Object.entries(own).filter(([name, value]) => value !== reward.values[name]);
    return {
      reward: changed.length === 0 ? reward : reward.with(Object.fromEntries(changed)),
      weight: weight as number,
    };
  });
}
