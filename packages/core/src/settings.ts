/**
 * Settings that a unit owns: a zod schema in which every field has a meaning, a unit and a range.
 *
 * A unit (a task set, a reward term, a scheduler, …) exports `settings`, made of the fields below;
 * its TypeScript type is `SettingsOf<typeof settings>`. A run's configuration is composed from the
 * schemas of the units it names, so nothing above a unit repeats its fields.
 */
import { z } from 'zod';
import { ConfigError } from './errors.ts';
import { nearestName } from './nearest-name.ts';

/** zod, for schemas beside the fields below: `z.strictObject({ cards: count({ … }) })`. */
export { z } from 'zod';

/** The schema of a unit's settings: an object of fields made with the functions below. */
export type SettingsSchema = z.ZodObject;

/** The type of a unit's settings: every field that has a default is present. */
export type SettingsOf<Schema extends z.ZodType> = z.output<Schema>;

/** The type of settings as a user writes them: fields with a default may be left out. */
export type SettingsInput<Schema extends z.ZodType> = z.input<Schema>;

/** One named choice that a run is composed of, with the settings that a user may change. */
export interface Unit<Schema extends SettingsSchema = SettingsSchema> {
  /** Kebab-case name, as a configuration writes it. */
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  readonly settings: Schema;
}

interface FieldOptions<Value> {
  /** One sentence: what the field means. */
  readonly about: string;
  /** The physical or logical unit of the value, e.g. `tokens`. */
  readonly unit: string;
  readonly default: Value;
}

interface RangeOptions {
  readonly min: number;
  readonly max: number;
}

/**
 * Notes what a field means. `meta`, which gives a copy, and a copy for each check would take most of
 * the time in which a program with a thousand fields starts.
 */
function described<Field extends z.ZodType>(field: Field, unit: string, about: string): Field {
  z.globalRegistry.add(field, { unit, description: about });
  return field;
}

const integerIn = (min: number, max: number): z.ZodNumber =>
  z.number().check(z.int(), z.gte(min), z.lte(max));

const numberIn = (min: number, max: number): z.ZodNumber =>
  z.number().check(z.gte(min), z.lte(max));

/** An integer in [min, max]. */
export function count(options: FieldOptions<number> & RangeOptions): z.ZodDefault<z.ZodNumber> {
  const { min, max, unit, about } = options;
  return described(integerIn(min, max).default(options.default), unit, about);
}

/** A finite number in [min, max]. */
export function quantity(options: FieldOptions<number> & RangeOptions): z.ZodDefault<z.ZodNumber> {
  const { min, max, unit, about } = options;
  return described(numberIn(min, max).default(options.default), unit, about);
}

/** True or false. */
export function flag(options: Omit<FieldOptions<boolean>, 'unit'>): z.ZodDefault<z.ZodBoolean> {
  return described(z.boolean().default(options.default), 'true or false', options.about);
}

/** One of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(
  words: Words,
  options: Omit<FieldOptions<NoInfer<Words[number]>>, 'unit'>,
): z.ZodDefault<z.ZodEnum<{ [Word in Words[number]]: Word }>> {
  const { about } = options;
  const field = z.enum(words) as z.ZodEnum<{ [Word in Words[number]]: Word }>;
  // The type of a default is computed from the enum, which TypeScript does not resolve here.
  const withDefault = field.default as (value: string) => z.ZodDefault<typeof field>;
  return described(withDefault.call(field, options.default), 'name', about);
}

/** A non-empty string. */
export function text(options: FieldOptions<string>): z.ZodDefault<z.ZodString> {
  const { unit, about } = options;
  return described(z.string().min(1).default(options.default), unit, about);
}

/** A non-empty string that may be left out. */
export function optionalText(
  options: Omit<FieldOptions<string>, 'default'>,
): z.ZodOptional<z.ZodString> {
  return described(z.string().min(1).optional(), options.unit, options.about);
}

/** An integer in [min, max] that may be left out, where absence has a meaning of its own. */
export function optionalCount(
  options: Omit<FieldOptions<number>, 'default'> & RangeOptions,
): z.ZodOptional<z.ZodNumber> {
  const { min, max, unit, about } = options;
  return described(integerIn(min, max).optional(), unit, about);
}

/** A finite number in [min, max] that may be left out. */
export function optionalQuantity(
  options: Omit<FieldOptions<number>, 'default'> & RangeOptions,
): z.ZodOptional<z.ZodNumber> {
  const { min, max, unit, about } = options;
  return described(numberIn(min, max).optional(), unit, about);
}

/**
 * A list of non-empty strings, empty by default; on a command line they are separated by commas.
 */
export function textList(
  options: Omit<FieldOptions<readonly string[]>, 'default'>,
): z.ZodDefault<z.ZodArray<z.ZodString>> {
  return described(z.array(z.string().min(1)).default([]), options.unit, options.about);
}

/** One field of a schema, as a reference page lists it. */
export interface SettingField {
  /** Dotted path below the schema, e.g. `repetition.weight`. */
  readonly path: string;
  readonly unit: string;
  /** The allowed values: `an integer in [2, 1024]`. */
  readonly range: string;
  /** Undefined where the field may be left out, or must be given. */
  readonly default: unknown;
  /** Whether it must be given. */
  readonly isRequired: boolean;
  readonly about: string;
}

/** Every field of a schema in its order, fields of nested objects by their dotted paths. */
export function listSettings(schema: SettingsSchema, prefix = ''): readonly SettingField[] {
  return Object.entries(schema.shape).flatMap(([key, type]) => {
    const path = prefix + key;
    const { inner, preset } = unwrap(type as z.ZodType);
    if (inner instanceof z.ZodObject) return listSettings(inner, `${path}.`);
    const meta = ((type as z.ZodType).meta() ?? {}) as { unit?: string; description?: string };
    return [
      {
        path,
        unit: meta.unit ?? '',
        range: describeRange(inner),
        default: preset,
        isRequired: !(type as z.ZodType).safeParse(undefined).success,
        about: meta.description ?? '',
      },
    ];
  });
}

/** Separates a field's type from its default or optionality. */
function unwrap(type: z.ZodType): { readonly inner: z.ZodType; readonly preset?: unknown } {
  if (type instanceof z.ZodDefault) {
    return { inner: type.def.innerType as z.ZodType, preset: type.def.defaultValue };
  }
  if (type instanceof z.ZodPrefault || type instanceof z.ZodOptional) {
    return { inner: type.def.innerType as z.ZodType };
  }
  return { inner: type };
}

function describeRange(inner: z.ZodType): string {
  if (inner instanceof z.ZodBoolean) return 'true or false';
  if (inner instanceof z.ZodEnum) return `one of ${inner.options.join(', ')}`;
  if (inner instanceof z.ZodArray) return 'a list of texts';
  if (inner instanceof z.ZodNumber) {
    const kind = inner.format === 'safeint' ? 'an integer' : 'a number';
    return `${kind} in [${inner.minValue}, ${inner.maxValue}]`;
  }
  return 'text';
}

/**
 * Checks values against a schema and fills in defaults.
 *
 * @param at where the values stand, for messages: `taskSet`
 * @throws ConfigError naming the field, what came, what was expected and the nearest known field
 */
export function readSettings<Schema extends SettingsSchema>(
  at: string,
  schema: Schema,
  values: unknown,
): SettingsOf<Schema> {
  // A schema of settings is read once or twice: compiling a parser for it takes longer.
  const parsed = schema.safeParse(values, { jitless: true });
  if (parsed.success) return parsed.data as SettingsOf<Schema>;
  throw settingsError(at, schema, values, parsed.error.issues[0]);
}

/** The error of the first issue that zod found. */
function settingsError(
  at: string,
  schema: SettingsSchema,
  values: unknown,
  issue: z.core.$ZodIssue | undefined,
): ConfigError {
  const fields = listSettings(schema);
  const join = (keys: readonly PropertyKey[]): string => keys.map(String).join('.');
  const where = (path: string): string => [at, path].filter((part) => part !== '').join('.');
  if (issue === undefined) return new ConfigError(at, `${at}: the settings are not valid.`);
  if (issue.code === 'unrecognized_keys') {
    const path = join([...issue.path, issue.keys[0] ?? '']);
    return unknownSetting(where(path), path, fields);
  }
  const path = join(issue.path);
  let value: unknown = values;
  for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const field = fields.find((candidate) => candidate.path === path);
  const expected =
    issue.code === 'custom'
      ? issue.message
      : field === undefined
        ? 'an object with fields'
        : `${field.range} (${field.unit})`;
  const remedy =
    field?.default === undefined ? '' : ` Its default is ${JSON.stringify(field.default)}.`;
  return new ConfigError(
    where(path),
    `${where(path)}: expected ${expected}, got ${describeValue(value)}.${remedy}`,
  );
}

/**
 * The error for a path that is no field, with the nearest field, or those of the group it names.
 */
export function unknownSetting(
  where: string,
  path: string,
  fields: readonly SettingField[],
): ConfigError {
  const known = fields.map((field) => field.path);
  const inside = known.filter((one) => one.startsWith(`${path}.`));
  if (inside.length > 0) {
    const prefix = where.slice(0, where.length - path.length);
    const some = inside.slice(0, 8).map((one) => prefix + one);
    const more = inside.length > some.length ? ', …' : '';
    return new ConfigError(
      where,
      `${shorten(where)} is a group of settings. Set one of them: ${some.join(', ')}${more}.`,
    );
  }
  const near = nearestName(path, known);
  const remedy =
    near !== undefined
      ? `Did you mean ${where.slice(0, where.length - path.length)}${near}?`
      : known.length === 0
        ? 'Nothing can be set here.'
        : `Known: ${known.slice(0, 40).join(', ')}${known.length > 40 ? ', …' : ''}.`;
  return new ConfigError(where, `There is no setting ${shorten(where)}. ${remedy}`);
}

/** A value in words, for messages. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  const kind = Array.isArray(value)
    ? 'a list'
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`;
  return `${shorten(JSON.stringify(value) ?? String(value))}, ${kind}`;
}

/** Names come from command lines and files: a message shows at most this much of one. */
function shorten(value: string): string {
  return value.length > 60 ? `${value.slice(0, 57)}...` : value;
}
