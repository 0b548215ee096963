/** The task sets of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { TaskSetUnit } from '@saccade/gym';
import * as catalog from './task-sets/catalog.ts';
import * as wrappers from './wrappers/catalog.ts';

/** Task sets by name, and those that wrap another one. */
export const visionTaskSets: Registry<TaskSetUnit> = defineRegistry<TaskSetUnit>('task set', {
  ...catalog,
  ...wrappers,
});

/** The units of this package, with the literal types of their names and settings. */
export type KnownVisionTaskSet =
  | (typeof catalog)[keyof typeof catalog]
  | (typeof wrappers)[keyof typeof wrappers];
