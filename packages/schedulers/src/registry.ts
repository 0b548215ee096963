/** All schedulers by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { SchedulerKind } from './scheduler.ts';
import * as catalog from './schedulers/catalog.ts';

/** The schedulers that a run can choose by name in the slot `scheduler`. */
export const schedulers: Registry<SchedulerKind> = defineRegistry<SchedulerKind>(
  'scheduler',
  catalog,
);

/** The units of this package, with the literal types of their names and settings. */
export type KnownScheduler = (typeof catalog)[keyof typeof catalog];
