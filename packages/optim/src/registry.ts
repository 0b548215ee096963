/** The optimizers and schedules that a run can name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Optimizer, OptimizerUnit } from './optimizer.ts';
import * as optimizerCatalog from './optimizers/catalog.ts';
import type { ScheduleUnit } from './schedule.ts';
import * as scheduleCatalog from './schedules/catalog.ts';

/** Optimizers by name. */
export const optimizers: Registry<OptimizerUnit> = defineRegistry<OptimizerUnit>(
  'optimizer',
  optimizerCatalog,
);

/** Learning-rate schedules by name. */
export const schedules: Registry<ScheduleUnit> = defineRegistry<ScheduleUnit>(
  'schedule',
  scheduleCatalog,
);

/** An optimizer as a configuration names it. */
export interface OptimizerChoice {
  readonly name: string;
  /** Settings that differ from the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** @throws ConfigError naming the known optimizers, or the setting that does not fit */
export function createOptimizer({ name, settings = {} }: OptimizerChoice): Optimizer {
  return optimizers.get(name).create(settings);
}
