/** A learning rate that stays at its peak. */
import { readSettings } from '@saccade/core/settings';
import { z } from 'zod';
import { decaySchedule, type ScheduleUnit, warmupFraction } from '../schedule.ts';

const settings = z.strictObject({ warmupFraction });

/** Linear warm-up, then the peak. */
export const constant: ScheduleUnit<typeof settings> = {
  name: 'constant',
  description: 'Linear warm-up, then the peak to the end.',
  settings,
  create(span, given = {}) {
    const chosen = readSettings('schedule', settings, given);
    return decaySchedule(span, { ...chosen, finalFraction: 1 }, () => 1);
  },
};
