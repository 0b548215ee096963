/** A slot that holds a list of units, each by its name, with settings, or itself. */
import { ConfigError } from '@saccade/core';
import { describeValue, type SettingField } from '@saccade/core/settings';
import {
  type Filled,
  fieldsOfSlot,
  fillSlot,
  isPlain,
  readSlot,
  type Selected,
  type Slot,
} from './slot.ts';

/** A slot of several units; an absent list differs from an empty one. */
export interface ListSlot<Some> extends Slot<Some> {
  readonly isList: true;
}

/** A list slot that is filled. */
export interface FilledList<Some> {
  readonly unit: readonly Some[];
  readonly selected: readonly Selected[];
  /** Whether a recipe brought any of the units. */
  readonly isOutside: boolean;
}

export function isListSlot<Some>(slot: Slot<Some> | ListSlot<Some>): slot is ListSlot<Some> {
  return 'isList' in slot;
}

/**
 * The elements of an input: a list, one element, or names with commas between them. Undefined where
 * the slot is empty.
 */
export function readList(key: string, input: unknown): readonly unknown[] | undefined {
  if (input === undefined || input === null) return undefined;
  if (Array.isArray(input)) return input;
  if (typeof input !== 'string') return [input];
  return input.split(',').map((name) => {
    if (name.trim() !== '') return name.trim();
    throw new ConfigError(
      key,
      `${key}: expected names with commas between them, got ${describeValue(input)}.`,
    );
  });
}

/**
 * Fills a list slot: finds each unit and checks its settings.
 *
 * @throws ConfigError as `fillSlot` does, and for a unit that stands twice
 */
export function fillList<Some>(slot: ListSlot<Some>, input: unknown): FilledList<Some> | undefined {
  const filled = readList(slot.key, input)?.map((element) => fillElement(slot, element));
  if (filled === undefined) return undefined;
  const names = filled.map(({ selected }) => selected.name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) {
    throw new ConfigError(slot.key, `${slot.key}: ${twice} stands twice. Name each once.`);
  }
  return {
    unit: filled.map(({ unit }) => unit),
    selected: filled.map(({ selected }) => selected),
    isOutside: filled.some(({ isOutside }) => isOutside),
  };
}

/** Fields of each unit of a list below its name, e.g. `csv.path`. */
export function fieldsOfList<Some>(slot: ListSlot<Some>, input: unknown): readonly SettingField[] {
  return (readList(slot.key, input) ?? []).flatMap((element) => {
    const { name, fields } = fieldsOfSlot(slot, element) ?? { name: '', fields: [] };
    return fields.map((field) => ({ ...field, path: `${name}.${field.path}` }));
  });
}

function fillElement<Some>(slot: ListSlot<Some>, element: unknown): Filled<Some> {
  // A list has no element by default: nothing and null are mistakes here.
  const filled = element === undefined ? undefined : fillSlot(slot, element);
  if (filled !== undefined) return filled;
  throw new ConfigError(
    slot.key,
    `${slot.key}: expected a list of names, { name, ...settings } or units, got ` +
      `${describeValue(element)} in it. Known: ${slot.registry.names.join(', ')}.`,
  );
}

/** The name of an element of a list: of the unit that it is, or that it names. */
function elementName<Some>(slot: ListSlot<Some>, element: unknown): unknown {
  const name = readSlot(slot, element)?.name;
  return typeof name === 'string' ? name : (name as { readonly name?: unknown } | undefined)?.name;
}

/** A list in which other units are chosen: those that stay keep their settings, and outside units. */
export function chooseElements<Some>(
  slot: ListSlot<Some>,
  before: unknown,
  chosen: unknown,
): unknown {
  const old = readList(slot.key, before) ?? [];
  return readList(slot.key, chosen)?.map(
    (next) => old.find((element) => elementName(slot, element) === next) ?? next,
  );
}

/** A list with a value set in the element of a name. */
export function putInElement<Some>(
  slot: ListSlot<Some>,
  list: unknown,
  name: string,
  change: (settings: Readonly<Record<string, unknown>>) => unknown,
): readonly unknown[] {
  return (readList(slot.key, list) ?? []).map((element) => {
    if (elementName(slot, element) !== name) return element;
    return change(isPlain(element) ? element : { name: element });
  });
}
