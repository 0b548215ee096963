/** The models of all packages, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import { type KnownModel as KnownLocalModel, type ModelUnit, models } from '@saccade/policy/models';
import * as catalog from '../models/catalog.ts';

/** Those on local kernels, and those elsewhere. */
export const allModels: Registry<ModelUnit> = defineRegistry<ModelUnit>(
  'model',
  Object.fromEntries([...models.entries(), ...Object.entries(catalog)]),
);

/** The units, with the literal types of their names and settings. */
export type KnownModel = KnownLocalModel | (typeof catalog)[keyof typeof catalog];
