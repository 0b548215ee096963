/** The kinds of fields a configuration has: counts, quantities, names, choices, flags, settings. */
import { z } from 'zod';

/** A number with its range. */
export interface NumberField {
  readonly min: number;
  readonly max: number;
  readonly preset: number;
  readonly unit: string;
  readonly about: string;
}

export function count({ min, max, preset, unit, about }: NumberField): z.ZodDefault<z.ZodNumber> {
  return z.number().int().min(min).max(max).default(preset).meta({ unit, description: about });
}

export function quantity({
  min,
  max,
  preset,
  unit,
  about,
}: NumberField): z.ZodDefault<z.ZodNumber> {
  return z.number().min(min).max(max).default(preset).meta({ unit, description: about });
}

export function name(preset: string, unit: string, about: string): z.ZodDefault<z.ZodString> {
  return z.string().min(1).default(preset).meta({ unit, description: about });
}

export function choice(
  preset: string,
  choices: readonly string[],
  about: string,
): z.ZodDefault<z.ZodEnum<Record<string, string>>> {
  const known = Object.fromEntries(choices.map((item) => [item, item]));
  return z.enum(known).default(preset).meta({ unit: 'name', description: about });
}

type SettingsKind = z.ZodDefault<
  z.ZodRecord<z.ZodString, z.ZodUnion<readonly [z.ZodNumber, z.ZodString, z.ZodBoolean]>>
>;

/** Values by name that a unit checks itself. */
export function settings(about: string): SettingsKind {
  const value = z.union([z.number(), z.string(), z.boolean()]);
  return z.record(z.string(), value).default({}).meta({ unit: 'name=value', description: about });
}

export function flag(preset: boolean, about: string): z.ZodDefault<z.ZodBoolean> {
  return z.boolean().default(preset).meta({ unit: 'true or false', description: about });
}

/** Numbers by name. */
export function weights(about: string): z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodNumber>> {
  return z
    .record(z.string(), z.number().min(-1e3).max(1e3))
    .default({})
    .meta({ unit: 'name=number', description: about });
}
