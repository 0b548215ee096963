import { count } from '@saccade/core/settings';
import { z } from 'zod';
import { defineFilter } from '../filter.ts';

/** Drops trajectories whose model text is too short or too long. */
export const length = defineFilter({
  name: 'length',
  description: 'Drops trajectories in which the model wrote too little or too much.',
  settings: z.strictObject({
    least: count({
      ...{ min: 0, max: 100_000_000, default: 1, unit: 'characters' },
      about: 'Fewest characters of all model turns.',
    }),
    most: count({
      ...{ min: 1, max: 100_000_000, default: 60_000, unit: 'characters' },
      about: 'Most characters of all model turns.',
    }),
  }),
  drops({ trajectory: { segments } }, { least, most }) {
    const written = segments.reduce(
      (sum, { kind, text }) => sum + (kind === 'model' ? text.length : 0),
      0,
    );
    if (written < least) return `shorter than ${least} characters`;
    return written > most ? `longer than ${most} characters` : undefined;
  },
});
