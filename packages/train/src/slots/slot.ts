/**
 * A slot of a run: a place that one unit fills, chosen by its name with its settings, or given as
 * the unit itself. Nothing here knows which units there are.
 */
import { ConfigError, type Registry } from '@saccade/core';
import {
  describeValue,
  listSettings,
  readSettings,
  type SettingField,
  type SettingsInput,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';

/** The stored choice of a slot: the unit's name and all of its settings. */
export interface Selected {
  readonly name: string;
  readonly [setting: string]: unknown;
}

/** A unit by its name, with settings of its own. */
type Named<Known> = Known extends {
  readonly name: infer Name;
  readonly settings: infer Schema extends SettingsSchema;
}
  ? { readonly name: Name } & SettingsInput<Schema>
  : never;

/** A unit that is given itself, with settings; `use` makes one. */
interface Used<Some> {
  readonly name: Some;
  readonly [setting: string]: unknown;
}

/** The values that a slot of a recipe accepts. */
export type SlotInput<Known extends { readonly name: string }, Some> =
  | Known['name']
  | Named<Known>
  | Some
  | Used<Some>;

/** A unit with settings, for a slot of a recipe. */
export function use<Some extends { readonly name: string; readonly settings: SettingsSchema }>(
  unit: Some,
  settings: SettingsInput<Some['settings']>,
): Used<Some> {
  return { ...(settings as Record<string, unknown>), name: unit };
}

/** How a slot finds its units and their settings. */
export interface Slot<Some> {
  readonly key: string;
  /** One sentence for people. */
  readonly about: string;
  readonly registry: Registry<Some>;
  /** The unit of runs that say nothing; without one the slot stays empty. */
  readonly preset?: string;
  /** The unit that is meant where only settings are given. Default: `preset`. */
  readonly implied?: string;
  /** Finds a unit by a name that a person writes. Default: the registry's. */
  find?(name: string): Some;
  /** The unit as the other settings have it, e.g. an algorithm at a profile. */
  narrow?(unit: Some, given: Readonly<Record<string, unknown>>): Some;
  /** The schema of a unit's settings. Default: its `settings`. */
  schema?(unit: Some): SettingsSchema;
}

/** A slot that is filled: the unit, its settings, and whether a recipe brought it. */
export interface Filled<Some> {
  readonly unit: Some;
  readonly selected: Selected;
  readonly isOutside: boolean;
}

/** The unit that an input chooses, before its settings are checked. */
interface Chosen<Some> {
  /** As the catalog has it. */
  readonly found: Some;
  /** As the other settings have it. */
  readonly unit: Some;
  readonly given: Readonly<Record<string, unknown>>;
}

/** The name of a unit that a registry holds, or its own. */
function nameOf<Some>(registry: Registry<Some>, unit: Some): string {
  const known = registry.entries().find(([, one]) => one === unit)?.[0];
  return known ?? (unit as { name: string }).name;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is a unit, not a selection: it brings a schema, or can do something. */
function isUnit(value: unknown): value is { readonly name: string } {
  return isRecord(value) && typeof value.name === 'string' && !isPlain(value);
}

/** Whether a value is an object of plain data, such as a selection; a unit is not. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  // Algorithms keep values in `settings` and their schema in `schema`; tools have no settings.
  const hasSchema = [value.settings, value.schema].some(
    (one) => isRecord(one) && typeof one.safeParse === 'function',
  );
  return !hasSchema && Object.values(value).every((one) => typeof one !== 'function');
}

/** The unit or its name, and the settings, of an input. Empty slots are undefined. */
export function readSlot<Some>(
  slot: Slot<Some>,
  input: unknown,
): { readonly name: string | Some; readonly given: Readonly<Record<string, unknown>> } | undefined {
  const { key, preset, implied = preset } = slot;
  if (input === undefined) return preset === undefined ? undefined : { name: preset, given: {} };
  if (input === null) return undefined;
  if (typeof input === 'string') return { name: input, given: {} };
  if (isUnit(input)) return { name: input as Some, given: {} };
  if (isRecord(input)) {
    const { name = implied, ...given } = input;
    if (typeof name === 'string' || isUnit(name)) return { name: name as string | Some, given };
  }
  throw new ConfigError(
    key,
    `${key}: expected a name, { name, ...settings } or a unit, got ${describeValue(input)}. ` +
      `Known: ${slot.registry.names.join(', ')}.`,
  );
}

function chooseUnit<Some>(slot: Slot<Some>, input: unknown): Chosen<Some> | undefined {
  const read = readSlot(slot, input);
  if (read === undefined) return undefined;
  const { name, given } = read;
  const found = typeof name === 'string' ? atSlot(slot, () => findUnit(slot, name)) : name;
  const unit = atSlot(slot, () => slot.narrow?.(found, given)) ?? found;
  return { found, unit, given };
}

/** The unit of an input by its name, and its fields; an empty slot has none. */
export function fieldsOfSlot<Some>(
  slot: Slot<Some>,
  input: unknown,
): { readonly name: string; readonly fields: readonly SettingField[] } | undefined {
  const chosen = chooseUnit(slot, input);
  if (chosen === undefined) return undefined;
  const { found, unit } = chosen;
  return { name: nameOf(slot.registry, found), fields: listSettings(schemaOf(slot, unit)) };
}

/**
 * Fills a slot: finds the unit, checks its settings and fills in their defaults.
 *
 * @throws ConfigError naming the field, what came, what was expected and the nearest known one
 */
export function fillSlot<Some>(slot: Slot<Some>, input: unknown): Filled<Some> | undefined {
  const chosen = chooseUnit(slot, input);
  if (chosen === undefined) return undefined;
  const { found, unit, given } = chosen;
  const settings = readSettings(slot.key, schemaOf(slot, unit), given) as Record<string, unknown>;
  const name = nameOf(slot.registry, found);
  const isOutside = !slot.registry.has(name) || slot.registry.get(name) !== found;
  return { unit, selected: { name, ...settings }, isOutside };
}

function findUnit<Some>(slot: Slot<Some>, name: string): Some {
  return slot.find?.(name) ?? slot.registry.get(name);
}

/** Makes errors name the slot. */
function atSlot<Some, Result>({ key }: Slot<Some>, find: () => Result): Result {
  try {
    return find();
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(key, `${key}: ${error.message}`);
    throw error;
  }
}

export function schemaOf<Some>(slot: Slot<Some>, unit: Some): SettingsSchema {
  return slot.schema?.(unit) ?? (unit as Unit).settings;
}
