/** Makes a kind of scheduler from its settings: what is left out is filled in, the rest is checked. */
import { readSettings, type SettingsOf, type SettingsSchema } from '@saccade/core/settings';
import { expectCount } from './collect.ts';
import type { Scheduler, SchedulerOptions, SchedulerUnit } from './scheduler.ts';

/** The definition of a scheduler in its file. */
export interface SchedulerDefinition<Name extends string, Schema extends SettingsSchema>
  extends Omit<SchedulerUnit<Name, Schema>, 'create'> {
  /** Every setting is present and in its range. */
  create(options: SchedulerOptions & SettingsOf<Schema>): Scheduler;
}

/** Defines your own scheduler, for catalogs and recipes. */
export function defineScheduler<const Name extends string, Schema extends SettingsSchema>(
  definition: SchedulerDefinition<Name, Schema>,
): SchedulerUnit<Name, Schema> {
  const { settings } = definition;
  return {
    ...definition,
    create({ groupSize, baselinesPerTask = 0, advantages, inFlight, ...given }) {
      expectCount('groupSize', groupSize);
      expectCount('baselinesPerTask', baselinesPerTask, 0);
      const hasLimits = inFlight !== undefined;
      const own = hasLimits && 'inFlight' in settings.shape ? { ...given, inFlight } : given;
      const values = readSettings('scheduler', settings, own);
      return definition.create({
        ...(hasLimits && { inFlight }),
        ...values,
        groupSize,
        baselinesPerTask,
        advantages,
      } as SchedulerOptions & SettingsOf<Schema>);
    },
  };
}
