/** What the commands share: number arguments, repeated options, the sandbox's Python. */
import { fileURLToPath } from 'node:url';
import type { EventSink } from '@saccade/core';
import { ensurePython } from '@saccade/sandbox';
import {
  inputOf,
  isRecipeFile,
  loadRecipe,
  type RecipeSource,
  type RunInput,
  recipes,
} from '@saccade/train';
import { InvalidArgumentError } from 'commander';

/** A non-negative whole number. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || text.trim() === '') {
    throw new InvalidArgumentError(`Expected a whole number of at least 0, got "${text}".`);
  }
  return value;
}

/** Exit status of a run that was asked to stop: not a failure, but not a finished run either. */
export const INTERRUPTED = 130;

/** A repeated option's values so far, with one more. */
export function collect<T>(value: T, before: readonly T[]): readonly T[] {
  return [...before, value];
}

/** The same for texts, of an option that is not there by default. */
export function more(text: string, before?: readonly string[]): readonly string[] {
  return collect(text, before ?? []);
}

/** Where the sandbox's Python environment lives: beside the packages, in the clone's cache. */
export const pythonDirectory: string = fileURLToPath(
  new URL('../../../../.cache/sandbox-venv', import.meta.url),
);

/** The interpreter of the sandbox; made on first use. @throws MissingError with the remedy */
export async function openPython(onEvent: EventSink): Promise<string> {
  return (await ensurePython(pythonDirectory, { onEvent })).python;
}

/** A recipe by its name or its file. @throws ConfigError if there is none */
export async function findRecipe(
  name: string,
): Promise<{ readonly input: RunInput; readonly source?: RecipeSource }> {
  if (!isRecipeFile(name)) return { input: inputOf(recipes.get(name)) };
  const { recipe, source } = await loadRecipe(name);
  return { input: inputOf(recipe), source };
}
