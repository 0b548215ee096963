/** Recipes and experiments by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Experiment } from './experiment.ts';
import * as experimentCatalog from './experiments/catalog.ts';
import type { Recipe } from './recipe.ts';
import * as catalog from './recipes/catalog.ts';

export const recipes: Registry<Recipe> = defineRegistry<Recipe>('recipe', catalog);

export const experiments: Registry<Experiment> = defineRegistry<Experiment>(
  'experiment',
  experimentCatalog,
);
