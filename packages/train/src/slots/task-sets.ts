/** The task sets of all packages, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import { datasetTaskSets } from '@saccade/datasets';
import { taskSets as gymTaskSets, type TaskSetUnit } from '@saccade/gym';
import { visionTaskSets } from '@saccade/vision-tasks';

/** Those of `@saccade/gym`, of `@saccade/datasets` and of `@saccade/vision-tasks`. */
export const taskSets: Registry<TaskSetUnit> = defineRegistry<TaskSetUnit>(
  'task set',
  Object.fromEntries([
    ...gymTaskSets.entries(),
    ...datasetTaskSets.entries(),
    ...visionTaskSets.entries(),
  ]),
);
