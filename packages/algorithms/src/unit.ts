/** Ties a unit to the settings it reads, so that an algorithm's schema is made of its units. */
import type { z } from 'zod';

/** Fields by name, made with the helpers of `@saccade/core/settings`. */
export type SettingsShape = Readonly<Record<string, z.ZodDefault>>;

/** The values of a shape's fields. */
export type ValuesOf<Shape extends SettingsShape> = z.output<z.ZodObject<Shape>>;

const namesByUnit = new WeakMap<object, readonly string[]>();
const unitFields = new WeakSet<z.ZodType>();

/**
 * A unit's factory together with the fields it reads.
 *
 * The factory's result remembers these names: a setting takes effect only while a unit that reads
 * it is chosen (`Algorithm.reads`).
 *
 * @param reads names of the fields that some options leave without effect are missing from its result
 */
export function owning<
  const Shape extends SettingsShape,
  Given extends readonly unknown[],
  Made extends object,
>(
  settings: Shape,
  create: (...given: Given) => Made,
  reads?: (...given: Given) => readonly string[],
): ((...given: Given) => Made) & { readonly settings: Shape } {
  for (const field of Object.values(settings)) unitFields.add(field);
  const names = Object.keys(settings);
  const factory = (...given: Given): Made => {
    const made = create(...given);
    const own = reads === undefined ? names : reads(...given);
    namesByUnit.set(made, [...(namesByUnit.get(made) ?? []), ...own]);
    return made;
  };
  return Object.assign(factory, { settings });
}

/** Names of the settings that a unit was made from. */
export function settingsRead(unit: object): readonly string[] {
  return namesByUnit.get(unit) ?? [];
}

/** Whether a field belongs to a unit, and so has no effect while that unit is not chosen. */
export function isUnitField(field: z.ZodType): boolean {
  return unitFields.has(field);
}

/** The same field with another default. */
export function withDefault(field: z.ZodDefault, value: unknown): z.ZodDefault {
  const inner = field.def.innerType as z.ZodType;
  const renewed = inner.default(value as never).meta(field.meta() ?? {}) as z.ZodDefault;
  if (unitFields.has(field)) unitFields.add(renewed);
  return renewed;
}
