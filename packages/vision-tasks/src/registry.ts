/** The task sets of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { TaskSetUnit } from '@saccade/gym';
import * as catalog from './task-sets/catalog.ts';

/** Task sets by name. */
export const visionTaskSets: Registry<TaskSetUnit> = defineRegistry<TaskSetUnit>(
  'task set',
  catalog,
);

/** The units of this package, with the literal types of their names and settings. */
export type KnownVisionTaskSet = (typeof catalog)[keyof typeof catalog];
