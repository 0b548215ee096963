/** The configuration that a run directory was started with, and the units that it names. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, type EventSink } from '@saccade/core';
import { readConfig } from '@saccade/run-store';
import { withPresentNames } from './earlier-names.ts';
import { loadRecipe, type RecipeSource, readSource } from './load-recipe.ts';
import { type ResolvedRun, type RunInput, resolveRun } from './run-config.ts';
import { isListSlot, type ListSlot, readList } from './slots/list-slot.ts';
import { readSlot, type Selected, type Slot } from './slots/slot.ts';
import { type SlotKey, slots } from './slots/slots.ts';

/** A run's configuration with its units, found again. */
export interface StoredRunConfig extends ResolvedRun {
  /** The recipe file that brought units which no catalog has. */
  readonly source?: RecipeSource;
}

/**
 * Reads a run's configuration and finds its units: in the catalogs, or in the recipe they came from.
 *
 * @param onEvent is warned where the recipe has changed since the run began
 * @throws DataError if the directory has none, it is damaged, or a unit's recipe is gone
 * @throws ConfigError if this version does not know a field or a value of it
 */
export async function readRunConfig(
  directory: string,
  onEvent: EventSink = () => {},
): Promise<StoredRunConfig> {
  if (!existsSync(join(directory, 'config.json'))) {
    throw new DataError(`${directory} holds no run: config.json is missing. Check the path.`);
  }
  const { config, sources } = readConfig(directory);
  const input = withPresentNames(config as RunInput);
  const [[firstSlot, text] = []] = Object.entries(sources);
  if (firstSlot === undefined || text === undefined) return resolveRun(input);
  const source = readSource(text);
  const recipe = await loadRecipe(source.file).catch((error: unknown) => {
    throw new DataError(
      `${directory} was trained with a ${firstSlot} from ${source.file}, which cannot be loaded ` +
        `now: ${error instanceof Error ? error.message : String(error)} Put the file back.`,
      { cause: error },
    );
  });
  if (recipe.source.digest !== source.digest) {
    const message =
      `${source.file}, or a file it imports, has changed since ${directory} began: what follows ` +
      'may differ from what the run would have done.';
    onEvent({ kind: 'warning', message });
  }
  const units = Object.keys(sources).map((key) => {
    const stored = (input as Readonly<Record<string, unknown>>)[key];
    const found = unitsIn(recipe.recipe.config, key as SlotKey);
    const restore = ({ name, ...settings }: Selected): unknown => {
      const unit = found.get(name);
      if (unit !== undefined) return { ...settings, name: unit };
      // A list may hold units of the catalog beside those from outside.
      if (Array.isArray(stored) && slots[key as SlotKey].registry.has(name)) {
        return { ...settings, name };
      }
      throw new DataError(
        `${directory} was trained with the ${key} "${name}" from ${source.file}, which no longer ` +
          'has it. Put it back, or begin another run.',
      );
    };
    return [key, Array.isArray(stored) ? stored.map(restore) : restore(stored as Selected)];
  });
  return { ...resolveRun({ ...input, ...Object.fromEntries(units) }), source: recipe.source };
}

/** The units themselves that a recipe puts into a slot, by their names. */
function unitsIn(config: RunInput, key: SlotKey): ReadonlyMap<string, unknown> {
  const slot = slots[key] as Slot<unknown> | ListSlot<unknown>;
  const elements = isListSlot(slot) ? (readList(key, config[key]) ?? []) : [config[key]];
  const units = elements
    .map((element) => readSlot(slot, element)?.name)
    .filter((unit) => typeof unit === 'object')
    .map((unit) => [(unit as { readonly name: string }).name, unit] as const);
  return new Map(units);
}
