/** Recipes by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Recipe } from './recipe.ts';
import * as catalog from './recipes/catalog.ts';

/** The recipes that `saccade train` takes by name. */
export const recipes: Registry<Recipe> = defineRegistry<Recipe>('recipe', catalog);
