/** Settings of reinforcement learning as a whole; its units have their own. */
import {
  choice,
  count,
  flag,
  optionalText,
  quantity,
  type SettingsOf,
} from '@saccade/core/settings';
import { truncationSettings } from '@saccade/policy';
import { z } from 'zod';

/**
 * The section `rl` of a run's settings: what holds for every algorithm and scheduler. Each of
 * those has settings of its own.
 */
export const rlSettings = z.strictObject({
  steps: count({
    min: 0,
    max: 1_000_000,
    default: 100,
    unit: 'steps',
    about: 'Reinforcement-learning steps; 0 stops after the cold start.',
  }),
  groupSize: count({
    min: 1,
    max: 1024,
    default: 8,
    unit: 'trajectories',
    about:
      'G: trajectories sampled per task. Algorithms that compare a group learn nothing from 1.',
  }),
  minibatches: count({
    min: 1,
    max: 1024,
    default: 1,
    unit: 'updates',
    about: 'Optimizer updates per step; above 1 the later ones are off-policy.',
  }),
  temperature: quantity({
    min: 0.01,
    max: 10,
    default: 1,
    unit: 'ratio',
    about: 'Sampling temperature of training; log-probs are those of this distribution.',
  }),
  ...truncationSettings,
  learningRate: quantity({
    min: 0,
    max: 1,
    default: 1e-4,
    unit: 'per update',
    about: 'Peak learning rate.',
  }),
  reference: optionalText({
    unit: 'directory',
    about:
      'The policy that KL and distillation compare with, or a run, whose newest is taken; unset: ' +
      'the one after the cold start.',
  }),
  deterministic: flag({
    default: false,
    about: 'Asynchronous rollouts run in lockstep with training: the same seed, the same run.',
  }),
  staleCaches: choice(['recompute', 'keep'], {
    default: 'recompute',
    about: 'Keys and values of rollouts in flight when new weights come: recomputed, or kept.',
  }),
  keepTrajectoriesEverySteps: count({
    min: 0,
    max: 1_000_000,
    default: 10,
    unit: 'steps',
    about: 'A group of training trajectories is written to disk every so many steps; 0: never.',
  }),
  collapseSteps: count({
    min: 1,
    max: 1000,
    default: 3,
    unit: 'steps',
    about:
      'Steps whose mean tool calls are compared, the first with the latest, to see a collapse.',
  }),
  collapseShare: quantity({
    min: 0,
    max: 1,
    default: 0.25,
    unit: 'share of the first steps’ calls',
    about: 'Mean tool calls below which the run warns that tool use collapsed; 0: never.',
  }),
});

export type RlSettings = SettingsOf<typeof rlSettings>;
