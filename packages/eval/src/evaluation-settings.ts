/** Settings of evaluations during and after training. */
import { count, quantity, type SettingsOf, textList } from '@saccade/core/settings';
import { truncationSettings } from '@saccade/policy';
import { z } from 'zod';

/**
 * The section `evaluation` of a run's settings: how many tasks, at which temperature, how often,
 * and how many trajectories are kept.
 */
export const evaluationSettings = z.strictObject({
  count: count({
    min: 1,
    max: 1_000_000,
    default: 200,
    unit: 'tasks',
    about: 'Held-out tasks per evaluation, always the first ones, so evaluations compare.',
  }),
  temperature: quantity({
    min: 0,
    max: 10,
    default: 0,
    unit: 'ratio',
    about: 'Sampling temperature of evaluations; 0 takes the most likely token.',
  }),
  ...truncationSettings,
  suites: textList({
    unit: 'names of suites',
    about: 'Suites that every evaluation also plays, logged as eval/<suite>/…; see saccade eval.',
  }),
  suiteTasks: count({
    min: 1,
    max: 1_000_000,
    default: 50,
    unit: 'tasks',
    about: 'Tasks of each suite, the first ones of its split.',
  }),
  suiteSamples: count({
    min: 1,
    max: 10_000,
    default: 1,
    unit: 'samples',
    about: 'Samples of each task of a suite: k of avg@k, pass@k and maj@k.',
  }),
  everySteps: count({
    min: 0,
    max: 1_000_000,
    default: 0,
    unit: 'steps',
    about: 'Evaluate every so many reinforcement-learning steps; 0: before and after only.',
  }),
  keepTrajectories: count({
    min: 0,
    max: 100_000,
    default: 24,
    unit: 'trajectories',
    about: 'Trajectories of each evaluation that are written to disk with their images.',
  }),
  cropIou: quantity({
    min: 0.01,
    max: 1,
    default: 0.5,
    unit: 'IoU',
    about:
      'A crop that overlaps with the task’s box this much shows what is asked about, in metrics.',
  }),
  shownShare: quantity({
    min: 0.01,
    max: 1,
    default: 0.5,
    unit: 'share',
    about: 'Share of the task’s box that a crop has to cover to be no error of place (errors/E4).',
  }),
});

/** The values of the section `evaluation`, with defaults filled in. */
export type EvaluationSettings = SettingsOf<typeof evaluationSettings>;
