/** The task set that a wrapper wraps, by its name and settings of its own. */
import { ConfigError, defineRegistry, type Registry } from '@saccade/core';
import { listSettings, text, textList } from '@saccade/core/settings';
import { datasetTaskSets } from '@saccade/datasets';
import { type TaskSet, type TaskSetUnit, taskSets } from '@saccade/gym';
import * as catalog from '../task-sets/catalog.ts';

/** Task sets that are no wrappers: of this package, of the gym, and of the user's own data. */
const bases: Registry<TaskSetUnit> = defineRegistry<TaskSetUnit>('task set', {
  ...Object.fromEntries([...taskSets.entries(), ...datasetTaskSets.entries()]),
  ...catalog,
});

/** Settings of a wrapper that name what it wraps. */
export const baseSettings = (preset: string) => ({
  of: text({
    default: preset,
    unit: 'name of a task set of images',
    about: 'The task set whose images are turned.',
  }),
  ofSettings: textList({
    unit: 'name=value',
    about: 'Settings of that task set, such as hardest=2; a list has + between its elements.',
  }),
});

/**
 * A task set by its name, with settings as `name=value`.
 *
 * @throws ConfigError for a name that is not known, or a setting that it does not take
 */
export function baseTaskSet(name: string, given: readonly string[]): TaskSet {
  const unit = bases.get(name);
  const fields = new Map(listSettings(unit.settings).map((field) => [field.path, field]));
  const settings = given.map((each): [string, unknown] => {
    const [, key, value] = /^([^=]+)=(.*)$/.exec(each) ?? [];
    if (key === undefined || value === undefined) {
      throw new ConfigError(
        'ofSettings',
        `taskSet.ofSettings: expected name=value, got ${JSON.stringify(each)}.`,
      );
    }
    return [key, valueFrom(value, fields.get(key)?.range)];
  });
  return unit.with(Object.fromEntries(settings));
}

/** A value as the field's range reads it; a wrong one is refused by the task set itself. */
function valueFrom(value: string, range: string | undefined): unknown {
  if (range === 'a list of texts') return value.split('+');
  if (range === 'true or false') return value === 'true' ? true : value === 'false' ? false : value;
  const isNumber = /^an? (integer|number) /.test(range ?? '');
  return isNumber && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : value;
}
