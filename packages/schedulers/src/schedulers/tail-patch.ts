/** VISTA-R1's curriculum: continue training on tasks that are hard but not hopeless. */
import { count, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineScheduler } from '../define-scheduler.ts';
import { probeThenTrain } from '../probe-then-train.ts';
import type { Scheduler, SchedulerOptions } from '../scheduler.ts';
import {
  highestField,
  lowestField,
  maxRounds,
  probeTasksField,
  promptsPerStep,
} from '../scheduler-settings.ts';

const settings = z.strictObject({
  promptsPerStep,
  lowest: lowestField(0.125),
  highest: highestField(0.375),
  probeTasks: probeTasksField('16·B'),
  refreshEverySteps: count({
    min: 0,
    max: 1_000_000,
    default: 0,
    unit: 'steps',
    about: 'Steps after which the current policy measures again; 0 for never.',
  }),
  maxRounds,
});

/** Options of `tailPatch`: the driver's, and its own settings. Pass rates are 0 to 1. */
export type TailPatchOptions = SchedulerOptions & SettingsOf<typeof settings>;

/**
 * Tail-patch curriculum: train on tasks of pass rate p with lowest ≤ p ≤ highest, measured with the
 * policy that training continues from.
 *
 * VISTA-Gym, arXiv:2511.19773, §6.4 and Fig. 7. The paper measures once, with the
 * checkpoint at which progress had stopped; `refreshEverySteps` measures again.
 */
export const tailPatch = defineScheduler({
  name: 'tail-patch',
  paper: 'arXiv:2511.19773, §6.4',
  description: 'Measures pass rates and trains on the tasks solved one to three times in eight.',
  repeatsTasks: true,
  settings,
  variants: [
    { lowest: 0, highest: 1, probeTasks: 3, maxRounds: 2, refreshEverySteps: 1 },
    { probeTasks: 4, maxRounds: 2 },
  ],
  create(options: TailPatchOptions): Scheduler {
    return probeThenTrain('tail-patch', {
      ...options,
      probeTasks: options.probeTasks ?? 16 * options.promptsPerStep,
    });
  },
});
