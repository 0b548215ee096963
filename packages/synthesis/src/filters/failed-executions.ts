import { count } from '@saccade/core/settings';
import { z } from 'zod';
import { defineFilter } from '../filter.ts';

/** Drops trajectories in which too much code failed. */
export const failedExecutions = defineFilter({
  name: 'failed-executions',
  description: 'Drops trajectories in which more executions or calls failed than allowed.',
  settings: z.strictObject({
    most: count({
      ...{ min: 0, max: 1000, default: 0, unit: 'executions' },
      about: 'Most failed executions or calls.',
    }),
  }),
  drops({ trajectory: { turns } }, { most }) {
    const failed = turns.flatMap(({ result }) =>
      result !== undefined && result.kind !== 'ok' ? [result.kind] : [],
    );
    return failed.length > most ? `failed execution: ${failed[0]}` : undefined;
  },
});
