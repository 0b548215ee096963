/** Leaves out tasks that are solved always, nearly always or never, before training begins. */
import { probeThenTrain } from '../probe-then-train.ts';
import type { Scheduler, SchedulerKind, SchedulerOptions } from '../scheduler.ts';

export interface DifficultyPrefilterOptions extends SchedulerOptions {
  /** Lowest pass rate kept; 0 itself is never. Default 0. */
  readonly lowest?: number;
  /** Highest pass rate kept; 1 itself is never. Default 0.9. */
  readonly highest?: number;
  /** Tasks measured at first, of which the rest are the training set. Default 32·B. */
  readonly probeTasks?: number;
  /** Most rounds of measuring, where none finds a task. Default 10. */
  readonly maxRounds?: number;
}

/** A kind of scheduler with options of its own. */
export interface DifficultyPrefilter extends SchedulerKind {
  create(options: DifficultyPrefilterOptions): Scheduler;
}

/**
 * Difficulty pre-filter: keep tasks of pass rate p with 0 < p ≤ 0.9, as the policy solves them
 * before it is trained.
 *
 * CodeV, arXiv:2511.19661 (RL data): out goes what a 7B model solves in over 0.9 of eight samples.
 * CodeVision, arXiv:2512.03746 (RL data): out go tasks all right and all wrong. Both measure once,
 * beforehand, with a model of their choice; here the policy itself measures, at its first step.
 */
export const difficultyPrefilter: DifficultyPrefilter = {
  name: 'difficulty-prefilter',
  paper: 'arXiv:2511.19661 and arXiv:2512.03746, RL data',
  description: 'Measures tasks before training and leaves out those solved always or never.',
  repeatsTasks: true,
  variants: [
    { probeTasks: 2, maxRounds: 1 },
    { probeTasks: 3, maxRounds: 3 },
  ],
  create(options: DifficultyPrefilterOptions): Scheduler {
    return probeThenTrain('difficulty-prefilter', {
      lowest: 0,
      highest: 0.9,
      probeTasks: 32 * options.promptsPerStep,
      maxRounds: 10,
      ...options,
      refreshEverySteps: 0,
    });
  },
};
