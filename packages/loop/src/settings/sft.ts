/** Settings of the cold start's training; its examples are a unit with settings of its own. */
import { count, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';

/**
 * The section `sft` of a run's settings: how long and how fast the policy learns from the cold
 * start's examples.
 */
export const sftSettings = z.strictObject({
  updates: count({
    min: 0,
    max: 1_000_000,
    default: 400,
    unit: 'updates',
    about: 'Optimizer updates of the cold start; 0 skips it.',
  }),
  learningRate: quantity({
    min: 0,
    max: 1,
    default: 1e-3,
    unit: 'per update',
    about: 'Peak learning rate of the cold start.',
  }),
});

export type SftSettings = SettingsOf<typeof sftSettings>;
