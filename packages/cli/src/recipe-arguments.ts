/** Recipes and their settings as arguments of commands. */
import {
  inputOf,
  isRecipeFile,
  loadRecipe,
  parseSetting,
  type RecipeSource,
  type RunInput,
  recipes,
  type Setting,
} from '@saccade/train';
import { collect } from './shared.ts';

/** A repeated option's values so far, with one more `--set path=value`. */
export function addSetting(text: string, before: readonly Setting[]): readonly Setting[] {
  return collect(parseSetting(text), before);
}

/** A recipe by its name or its file. @throws ConfigError if there is none */
export async function findRecipe(
  name: string,
): Promise<{ readonly input: RunInput; readonly source?: RecipeSource }> {
  if (!isRecipeFile(name)) return { input: inputOf(recipes.get(name)) };
  const { recipe, source } = await loadRecipe(name);
  return { input: inputOf(recipe), source };
}
