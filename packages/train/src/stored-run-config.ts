/** The configuration that a run directory was started with, and the units that it names. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError, type EventSink } from '@saccade/core';
import { readConfig } from '@saccade/run-store';
import { loadRecipe, type RecipeSource, readSource } from './load-recipe.ts';
import { type ResolvedRun, type RunInput, resolveRun } from './run-config.ts';
import { readSlot, type Slot } from './slots/slot.ts';
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
  const input = config as RunInput;
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
    const unit = unitIn(recipe.recipe.config, key as SlotKey);
    const { name, ...settings } = (input as Record<string, { name: string }>)[key] ?? { name: '' };
    if ((unit as { name?: unknown } | undefined)?.name === name) {
      return [key, { ...settings, name: unit }] as const;
    }
    throw new DataError(
      `${directory} was trained with the ${key} "${name}" from ${source.file}, which no longer ` +
        'has it. Put it back, or begin another run.',
    );
  });
  return { ...resolveRun({ ...input, ...Object.fromEntries(units) }), source: recipe.source };
}

/** The unit itself that a recipe puts into a slot. */
function unitIn(config: RunInput, key: SlotKey): unknown {
  const name = readSlot(slots[key] as Slot<unknown>, config[key])?.name;
  return typeof name === 'object' ? name : undefined;
}
