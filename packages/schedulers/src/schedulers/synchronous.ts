/** The plain scheduler: roll out B groups, train on all of them. */
import { allOf, collectThenSelect } from '../collect.ts';
import type { Scheduler, SchedulerKind, SchedulerOptions } from '../scheduler.ts';

/** GRPO's loop: all groups of a step are rolled out, then all are trained on. */
export const synchronous: SchedulerKind = {
  name: 'synchronous',
  paper: 'arXiv:2402.03300, Alg. 1',
  description: 'Rolls out the groups of a step and trains on all of them.',
  create(options: SchedulerOptions): Scheduler {
    return collectThenSelect('synchronous', options.promptsPerStep, options, (groups) => ({
      trajectories: allOf(groups),
      drops: [],
    }));
  },
};
