/** A learning rate that stays at its peak and falls near the end. */
import { quantity, readSettings } from '@saccade/core/settings';
import { z } from 'zod';
import { finalFraction, type ScheduleUnit, warmupFraction, warmupUpdates } from '../schedule.ts';

const settings = z.strictObject({
  warmupFraction,
  decayFraction: quantity({
    min: 0,
    max: 1,
    default: 0.1,
    unit: 'fraction of updates',
    about: 'Share of the updates, at the end, over which the learning rate falls along a line.',
  }),
  finalFraction,
});

/**
 * Hu et al. 2024 (MiniCPM), arXiv:2404.06395, section 4.2; the fall is a line.
 *
 *   u < w:          η = peak · (u + 1) / w
 *   u < total − d:  η = peak
 *   else:           η = peak · (f + (1 − f) · (total − 1 − u) / d);  d = round(total · decayFraction)
 */
export const warmupStableDecay: ScheduleUnit<typeof settings> = {
  name: 'warmup-stable-decay',
  description: 'Linear warm-up, the peak, then a line down to a share of the peak.',
  settings,
  create({ peak, total }, given = {}) {
    const { finalFraction: end, ...chosen } = readSettings('schedule', settings, given);
    const warmup = warmupUpdates(total, chosen.warmupFraction);
    const falling = Math.min(Math.round(total * chosen.decayFraction), total - warmup);
    return (update) => {
      if (update < warmup) return (peak * (update + 1)) / warmup;
      if (falling === 0 || update < total - falling) return peak;
      const left = Math.max(0, total - 1 - update) / falling;
      return peak * (end + (1 - end) * left);
    };
  },
};
