/** Settings of checkpoints. */
import { count, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';

/**
 * The section `checkpoint` of a run's settings: how often a checkpoint is written, and how many
 * are kept.
 */
export const checkpointSettings = z.strictObject({
  everySftUpdates: count({
    min: 1,
    max: 1_000_000,
    default: 200,
    unit: 'updates',
    about: 'Updates of the cold start between checkpoints.',
  }),
  everyRlSteps: count({
    min: 1,
    max: 1_000_000,
    default: 10,
    unit: 'steps',
    about: 'Reinforcement-learning steps between checkpoints.',
  }),
  keep: count({
    min: 1,
    max: 1_000_000,
    default: 3,
    unit: 'checkpoints',
    about: 'Newest checkpoints that are kept, besides the one that ends the cold start.',
  }),
});

export type CheckpointSettings = SettingsOf<typeof checkpointSettings>;
