/** Recipes, cold starts and experiments by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { ColdStart } from './cold-start.ts';
import * as coldStartCatalog from './cold-starts/catalog.ts';
import type { Experiment } from './experiment.ts';
import * as experimentCatalog from './experiments/catalog.ts';
import type { Recipe } from './recipe.ts';
import * as catalog from './recipes/catalog.ts';

export const recipes: Registry<Recipe> = defineRegistry<Recipe>('recipe', catalog);

export const coldStarts: Registry<ColdStart> = defineRegistry<ColdStart>(
  'cold start',
  coldStartCatalog,
);

export const experiments: Registry<Experiment> = defineRegistry<Experiment>(
  'experiment',
  experimentCatalog,
);
