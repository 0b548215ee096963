/** A learning rate that falls along half a cosine. */
import { readSettings } from '@saccade/core/settings';
import { z } from 'zod';
import { decaySchedule, finalFraction, type ScheduleUnit, warmupFraction } from '../schedule.ts';

const settings = z.strictObject({ warmupFraction, finalFraction });

/** Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5 (one period), behind a linear warm-up. */
export const cosine: ScheduleUnit<typeof settings> = {
  name: 'cosine',
  description: 'Linear warm-up, then half a cosine down to a share of the peak.',
  settings,
  create(span, given = {}) {
    const chosen = readSettings('schedule', settings, given);
    return decaySchedule(span, chosen, (done) => 0.5 * (1 + Math.cos(Math.PI * done)));
  },
};
