/** Recipes as arguments of commands. */
import {
  inputOf,
  isRecipeFile,
  loadRecipe,
  type RecipeSource,
  type RunInput,
} from '@saccade/train';
import { recipes } from '@saccade/train/recipes';

/** A recipe by its name or its file. @throws ConfigError if there is none */
export async function findRecipe(
  name: string,
): Promise<{ readonly input: RunInput; readonly source?: RecipeSource }> {
  if (!isRecipeFile(name)) return { input: inputOf(recipes.get(name)) };
  const { recipe, source } = await loadRecipe(name);
  return { input: inputOf(recipe), source };
}
