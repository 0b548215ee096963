/** The plain scheduler: roll out B groups, train on all of them. */
import { z } from 'zod';
import { allOf, collectThenSelect } from '../collect.ts';
import { defineScheduler } from '../define-scheduler.ts';
import type { Scheduler, SchedulerOptions } from '../scheduler.ts';
import { promptsPerStep } from '../scheduler-settings.ts';

const settings = z.strictObject({ promptsPerStep });

/** GRPO's loop: all groups of a step are rolled out, then all are trained on. */
export const synchronous = defineScheduler({
  name: 'synchronous',
  paper: 'arXiv:2402.03300, Alg. 1',
  description: 'Rolls out the groups of a step and trains on all of them.',
  settings,
  create(options: SchedulerOptions): Scheduler {
    return collectThenSelect('synchronous', options.promptsPerStep, options, (groups) => ({
      trajectories: allOf(groups),
      drops: [],
    }));
  },
});
