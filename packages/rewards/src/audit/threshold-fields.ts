/** Fields of detectors' thresholds. */
import { count, quantity } from '@saccade/core/settings';
import type { z } from 'zod';

/** A share from 0 to 1. */
export function share(preset: number, about: string): z.ZodDefault<z.ZodNumber> {
  return quantity({ min: 0, max: 1, default: preset, unit: 'share', about });
}

/** A number of something from which a detector judges. */
export function least(preset: number, unit: string, about: string): z.ZodDefault<z.ZodNumber> {
  return count({ min: 1, max: 1_000_000, default: preset, unit, about });
}

/** Share of all trajectories at which a detector alarms. */
export const alarmShare: z.ZodDefault<z.ZodNumber> = share(
  0.1,
  'Share of the trajectories from which it is an alarm.',
);

/** A handful of trajectories says nothing about a run. */
export const leastTrajectories: z.ZodDefault<z.ZodNumber> = least(
  8,
  'trajectories',
  'Fewer trajectories set off no alarm.',
);
