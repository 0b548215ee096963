/** The cold starts of this package by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { ColdStart } from './cold-start.ts';
import * as coldStartCatalog from './cold-starts/catalog.ts';

/** The cold starts that a run can choose by name in the slot `coldStart`. */
export const coldStarts: Registry<ColdStart> = defineRegistry<ColdStart>(
  'cold start',
  coldStartCatalog,
);

/** The units of this package, with the literal types of their names and settings. */
export type KnownColdStart = (typeof coldStartCatalog)[keyof typeof coldStartCatalog];
