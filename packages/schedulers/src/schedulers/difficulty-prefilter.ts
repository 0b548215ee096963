/** Leaves out tasks that are solved always, nearly always or never, before training begins. */
import type { SettingsOf } from '@saccade/core/settings';
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
  lowest: lowestField(0),
  highest: highestField(0.9),
  probeTasks: probeTasksField('32·B'),
  maxRounds,
});

/** Options of `difficultyPrefilter`: the driver's, and its own settings. Pass rates are 0 to 1. */
export type DifficultyPrefilterOptions = SchedulerOptions & SettingsOf<typeof settings>;

/**
 * Difficulty pre-filter: keep tasks of pass rate p with 0 < p ≤ 0.9, measured with the policy
 * before it is trained.
 *
 * CodeV, arXiv:2511.19661 (RL data), drops tasks that a 7B model solves in over 0.9 of eight
 * samples. CodeVision, arXiv:2512.03746 (RL data), drops tasks that are always or never solved.
 * Both measure once, beforehand, with a model of their choice; here the policy itself measures, at
 * its first step.
 */
export const difficultyPrefilter = defineScheduler({
  name: 'difficulty-prefilter',
  paper: 'arXiv:2511.19661 and arXiv:2512.03746, RL data',
  description: 'Measures tasks before training and leaves out those solved always or never.',
  repeatsTasks: true,
  settings,
  variants: [
    { probeTasks: 2, maxRounds: 1 },
    { probeTasks: 3, maxRounds: 3 },
  ],
  create(options: DifficultyPrefilterOptions): Scheduler {
    return probeThenTrain('difficulty-prefilter', {
      ...options,
      probeTasks: options.probeTasks ?? 32 * options.promptsPerStep,
      refreshEverySteps: 0,
    });
  },
});
