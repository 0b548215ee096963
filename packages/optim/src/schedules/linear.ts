/** A learning rate that falls along a line. */
import { readSettings } from '@saccade/core/settings';
import { z } from 'zod';
import { decaySchedule, finalFraction, type ScheduleUnit, warmupFraction } from '../schedule.ts';

const settings = z.strictObject({ warmupFraction, finalFraction });

/** Linear warm-up, then a line down to a share of the peak. No paper: a definition. */
export const linear: ScheduleUnit<typeof settings> = {
  name: 'linear',
  description: 'Linear warm-up, then a line down to a share of the peak.',
  settings,
  create(span, given = {}) {
    return decaySchedule(span, readSettings('schedule', settings, given), (done) => 1 - done);
  },
};
