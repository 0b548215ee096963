/** VISTA-R1's curriculum: go on training on the tasks that are hard but not hopeless. */
import { probeThenTrain } from '../probe-then-train.ts';
import type { Scheduler, SchedulerKind, SchedulerOptions } from '../scheduler.ts';

export interface TailPatchOptions extends SchedulerOptions {
  /** Pass rates trained on, both included. Default 0.125 and 0.375: one to three of eight. */
  readonly lowest?: number;
  readonly highest?: number;
  /** Tasks measured in a round. Default 16·B. */
  readonly probeTasks?: number;
  /** Steps after which the current policy measures anew; 0 for never. Default 0. */
  readonly refreshEverySteps?: number;
  /** Most rounds of measuring in a step. Default 10. */
  readonly maxRounds?: number;
}

/** A kind of scheduler with options of its own. */
export interface TailPatch extends SchedulerKind {
  create(options: TailPatchOptions): Scheduler;
}

/**
 * Tail-patch curriculum: train on tasks of pass rate p with lowest ≤ p ≤ highest, as the policy
 * that training goes on from solved them.
 *
 * VISTA-Gym, arXiv:2511.19773, §6.4 and Fig. 7. The paper measures once, with the
 * checkpoint at which progress had stopped; `refreshEverySteps` measures again.
 */
export const tailPatch: TailPatch = {
  name: 'tail-patch',
  paper: 'arXiv:2511.19773, §6.4',
  description: 'Measures pass rates and trains on the tasks solved one to three times in eight.',
  repeatsTasks: true,
  variants: [
    { lowest: 0, highest: 1, probeTasks: 3, maxRounds: 2, refreshEverySteps: 1 },
    { probeTasks: 4, maxRounds: 2 },
  ],
  create(options: TailPatchOptions): Scheduler {
    return probeThenTrain('tail-patch', {
      lowest: 0.125,
      highest: 0.375,
      probeTasks: 16 * options.promptsPerStep,
      refreshEverySteps: 0,
      maxRounds: 10,
      ...options,
    });
  },
};
