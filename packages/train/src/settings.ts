/** Settings put into a configuration. */
import { ConfigError } from '@saccade/core';
import { type SettingField, unknownSetting } from '@saccade/core/settings';
import { fieldsOf, type RunInput } from './run-config.ts';
import type { Setting } from './setting.ts';
import { chooseElements, isListSlot, type ListSlot, putInElement } from './slots/list-slot.ts';
import { isPlain, readSlot, type Slot } from './slots/slot.ts';
import { type SlotKey, slots } from './slots/slots.ts';

/** `algorithm` or `algorithm.name`: the slot that a path chooses the unit of. */
function slotOf(path: string): SlotKey | undefined {
  const key = path.endsWith('.name') ? path.slice(0, -'.name'.length) : path;
  return isSlotKey(key) ? key : undefined;
}

const isSlotKey = (key: string): key is SlotKey => Object.hasOwn(slots, key);

/**
 * An input with settings put in, in order: first the units that are chosen, then their fields.
 * Another unit starts from its own defaults: settings of the one before are not its own.
 *
 * @throws ConfigError for a path that is no field of the chosen units, with the nearest one
 */
export function applySettings(base: RunInput, settings: readonly Setting[]): RunInput {
  let input: Record<string, unknown> = { ...base };
  for (const { path, value } of settings) {
    const key = slotOf(path);
    if (key === undefined) continue;
    const slot = slots[key] as Slot<unknown> | ListSlot<unknown>;
    if (isListSlot(slot)) {
      input = { ...input, [key]: chooseElements(slot, input[key], value) };
      continue;
    }
    const before = readSlot(slot, input[key]);
    const isSame = before !== undefined && nameIn(before.name) === value;
    if (!isSame) input = { ...input, [key]: value };
  }
  const others = settings.filter(({ path }) => slotOf(path) === undefined);
  for (const { path } of others) {
    // Settings of an empty slot fill it: `engine.baseUrl=…` asks for an engine.
    const [key = ''] = path.split('.');
    if (key === path || !isSlotKey(key)) continue;
    const slot = slots[key] as Slot<unknown> | ListSlot<unknown>;
    if (isListSlot(slot) || slot.implied === undefined) continue;
    const isEmpty = readSlot(slot, input[key]) === undefined;
    if (isEmpty) input = { ...input, [key]: slot.implied };
  }
  // A profile decides what the other settings of an algorithm start from.
  const ordered = [...others].sort((a, b) => rank(a) - rank(b));
  for (const { path, value } of ordered) {
    const field = resolvePath(path, fieldsOf(input as RunInput));
    input = putSetting(input, field.path.split('.'), readValue(field, value));
  }
  return input as RunInput;
}

const rank = ({ path }: Setting): number => (path.endsWith('profile') ? 0 : 1);

const nameIn = (unit: unknown): unknown =>
  typeof unit === 'string' ? unit : (unit as { readonly name?: unknown }).name;

/** Lists may be written with commas; a single text may look like a number. */
function readValue({ range }: SettingField, value: unknown): unknown {
  if (range === 'a list of texts' && typeof value === 'string') {
    return value.split(',').map((one) => one.trim());
  }
  if (range === 'text' && (typeof value === 'number' || typeof value === 'boolean')) {
    return String(value);
  }
  return value;
}

/**
 * The field that a path means: the field of that path, or the only one that ends in it. A reward's
 * term by its name means its weight.
 */
function resolvePath(path: string, fields: readonly SettingField[]): SettingField {
  const exact = fields.find((field) => field.path === path || field.path === `${path}.weight`);
  if (exact !== undefined) return exact;
  const [found, another] = fields.filter(
    (field) => field.path.endsWith(`.${path}`) || field.path.endsWith(`.${path}.weight`),
  );
  if (found !== undefined && another === undefined) return found;
  if (found !== undefined && another !== undefined) {
    throw new ConfigError(
      path,
      `--set ${path}: several fields end in it, ${found.path} and ${another.path} among them. ` +
        'Write the whole path.',
    );
  }
  throw unknownSetting(path, path, fields);
}

/** A copy with a value at a path; a slot that only has a name becomes an object. */
function put(
  owner: Readonly<Record<string, unknown>>,
  [word = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  if (rest.length === 0) return { ...owner, [word]: value };
  const before = owner[word];
  const inner = isPlain(before) ? before : before === undefined ? {} : { name: before };
  return { ...owner, [word]: put(inner, rest, value) };
}

/** The same for an input, whose lists hold the units that the second word of a path names. */
function putSetting(
  input: Readonly<Record<string, unknown>>,
  path: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const [key = '', name = '', ...rest] = path;
  const slot = slots[key as SlotKey] as Slot<unknown> | ListSlot<unknown> | undefined;
  if (slot === undefined || !isListSlot(slot)) return put(input, path, value);
  const list = putInElement(slot, input[key], name, (settings) => put(settings, rest, value));
  return { ...input, [key]: list };
}
