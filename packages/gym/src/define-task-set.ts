/** Makes a unit of a task set: its settings, its tasks at their defaults, and the same with others. */
import {
  readSettings,
  type SettingsInput,
  type SettingsOf,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';
import type { TaskSet } from './task.ts';

/** A task set at its defaults, and the same with other settings. */
export interface TaskSetUnit<Schema extends SettingsSchema = SettingsSchema>
  extends TaskSet,
    Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** @throws ConfigError naming the setting, what came and what was expected */
  with(settings?: SettingsInput<Schema>): TaskSet;
}

/** The definition of a task set in its file. */
export interface TaskSetDefinition<Name extends string, Schema extends SettingsSchema> {
  readonly name: Name;
  readonly description: string;
  readonly settings: Schema;
  /** @throws ConfigError for settings that do not go together */
  create(settings: SettingsOf<Schema>): Omit<TaskSet, 'name' | 'description'>;
}

/** Defines your own task set, for catalogs and recipes. */
export function defineTaskSet<const Name extends string, Schema extends SettingsSchema>(
  definition: TaskSetDefinition<Name, Schema>,
): TaskSetUnit<Schema> & { readonly name: Name } {
  const { name, description, settings } = definition;
  const make = (given?: SettingsInput<Schema>): TaskSet => ({
    name,
    description,
    ...definition.create(readSettings('taskSet', settings, given ?? {})),
  });
  let defaults: TaskSet | undefined;
  // Nothing is made at import: a task set may read files.
  const atDefaults = (): TaskSet => {
    defaults ??= make();
    return defaults;
  };
  return {
    name,
    description,
    settings,
    size: (split) => atDefaults().size(split),
    task: (split, index) => atDefaults().task(split, index),
    open: (context) => atDefaults().open?.(context) ?? Promise.resolve(atDefaults()),
    dispose: async () => await defaults?.dispose?.(),
    with: make,
  };
}
