/** `dataset`: the rows of one data set as tasks. */
import { MissingError } from '@saccade/core';
import { count } from '@saccade/core/settings';
import { defineTaskSet, type TaskSet } from '@saccade/gym';
import { z } from 'zod';
import { DataSource } from '../sources/data-source.ts';
import { checkMappingName } from '../sources/find-mapping.ts';
import { sourceFields } from '../sources/source-settings.ts';
import { MixedTasks } from './mixed-tasks.ts';

/** Seed and passes of a training split. */
export const streamFields = {
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: 'Seed of the order of rows.',
  }),
  epochs: count({
    min: 0,
    max: 2 ** 20,
    default: 0,
    unit: 'passes',
    about: 'Passes over the training rows, each in an order of its own; 0: as many as a run needs.',
  }),
};

export const passesOf = (epochs: number): number =>
  epochs === 0 ? Number.POSITIVE_INFINITY : epochs;

const NAME = 'dataset';
const DESCRIPTION =
  'The rows of a data set: Parquet, JSON, CSV, WebDataset or image folders, here or on a hub.';

/** Rows of a data set of files or of a hub; `metadata.row` is the address of a task's row. */
export const dataset = defineTaskSet({
  name: NAME,
  description: DESCRIPTION,
  settings: z.strictObject({ ...sourceFields, ...streamFields }),
  create(settings) {
    checkMappingName(settings.mapping);
    const { seed, epochs, ...own } = settings;
    return {
      ...closed(NAME),
      async open({ hub, onEvent }) {
        const source = await DataSource.open(own, { ...(hub && { hub }), ...(onEvent && { onEvent }) });
        const tasks = new MixedTasks([{ source, weight: 1, epochs: passesOf(epochs) }], seed);
        return named(NAME, DESCRIPTION, tasks);
      },
    };
  },
});

/** A task set whose files are not open yet. */
export function closed(name: string): Pick<TaskSet, 'size' | 'task'> {
  const refuse = (): never => {
    throw new MissingError(`The files of the task set ${name} are not open. Call its open() first.`);
  };
  return { size: refuse, task: async () => refuse() };
}

/** Opened tasks under the name of their unit. */
export function named(name: string, description: string, tasks: MixedTasks): TaskSet {
  return {
    name,
    description,
    size: (split) => tasks.size(split),
    task: (split, index) => tasks.task(split, index),
    facts: () => tasks.facts(),
    dispose: () => tasks.dispose(),
  };
}
