/** The task sets of all packages, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import { taskSets as gymTaskSets, type TaskSetUnit } from '@saccade/gym';
import { visionTaskSets } from '@saccade/vision-tasks';

/** Those of `@saccade/gym` and of `@saccade/vision-tasks`. */
export const taskSets: Registry<TaskSetUnit> = defineRegistry<TaskSetUnit>(
  'task set',
  Object.fromEntries([...gymTaskSets.entries(), ...visionTaskSets.entries()]),
);
