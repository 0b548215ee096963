/** The task sets and writers of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { TaskSetUnit } from '@saccade/gym';
import * as taskSetCatalog from './task-sets/catalog.ts';
import type { Writer } from './writer.ts';
import * as writerCatalog from './writers/catalog.ts';

/** Writers of formats by name. */
export const writers: Registry<Writer> = defineRegistry<Writer>('writer', writerCatalog);
/** Task sets by name. */
export const datasetTaskSets: Registry<TaskSetUnit> = defineRegistry<TaskSetUnit>(
  'task set',
  taskSetCatalog,
);

/** The task sets of this package, with the literal types of their names and settings. */
export type KnownDatasetTaskSet = (typeof taskSetCatalog)[keyof typeof taskSetCatalog];
