/** The plain scheduler: roll out B groups, train on all of them. */
import { advantaged, collectThenSelect, expectCount } from '../collect.ts';
import type { Scheduler, SchedulerKind, SchedulerOptions } from '../scheduler.ts';

export const synchronous: SchedulerKind = {
  name: 'synchronous',
  paper: 'arXiv:2402.03300, Alg. 1',
  description: 'Rolls out the groups of a step and trains on all of them.',
  create(options: SchedulerOptions): Scheduler {
    expectCount('promptsPerStep', options.promptsPerStep);
    expectCount('groupSize', options.groupSize);
    return collectThenSelect('synchronous', options.promptsPerStep, options, (groups) => ({
      trajectories: groups.flatMap((group) =>
        group.trajectories.map((_, index) => advantaged(group, index)),
      ),
      drops: [],
    })) as Scheduler;
  },
};
