/** The pipelines and filters of this package by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { FilterUnit } from './filter.ts';
import * as filterCatalog from './filters/catalog.ts';
import type { Pipeline } from './pipeline.ts';
import * as pipelineCatalog from './pipelines/catalog.ts';

/** Pipelines by name. */
export const pipelines: Registry<Pipeline> = defineRegistry<Pipeline>('pipeline', {
  ...pipelineCatalog,
});

/** Filters by name. */
export const filters: Registry<FilterUnit> = defineRegistry<FilterUnit>('filter', {
  ...filterCatalog,
});
