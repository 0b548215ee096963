import { count } from '@saccade/core/settings';
import { isToolUse } from '@saccade/trajectory';
import { z } from 'zod';
import { defineFilter } from '../filter.ts';

/** Drops trajectories with fewer tool turns than wanted (PyVision-RL's cold start: two), or more. */
export const fewToolTurns = defineFilter({
  name: 'few-tool-turns',
  description: 'Drops trajectories with too few or too many turns that use a tool.',
  settings: z.strictObject({
    least: count({
      ...{ min: 0, max: 1000, default: 2, unit: 'turns' },
      about: 'Fewest tool turns.',
    }),
    most: count({
      ...{ min: 0, max: 1000, default: 1000, unit: 'turns' },
      about: 'Most tool turns.',
    }),
  }),
  drops({ trajectory: { turns } }, { least, most }) {
    const used = turns.filter(({ action }) => isToolUse(action)).length;
    if (used < least) return `fewer than ${least} tool turns`;
    return used > most ? `more than ${most} tool turns` : undefined;
  },
});
