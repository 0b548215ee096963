/** Learning-rate schedules: pure functions of the update. */
import {
  quantity,
  type SettingsInput,
  type SettingsSchema,
  type Unit,
} from '@saccade/core/settings';

/** Learning rate of an update, counted from 0. */
export type Schedule = (update: number) => number;

/** The range of a schedule: its peak and its length. */
export interface ScheduleSpan {
  /** The largest learning rate. */
  readonly peak: number;
  /** Total number of updates. */
  readonly total: number;
}

/** A schedule that a run can name: one file, one line in `catalog.ts`. */
export interface ScheduleUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  /** @throws ConfigError naming the setting that is unknown or out of range */
  create(span: ScheduleSpan, settings?: SettingsInput<Schema>): Schedule;
}

export const warmupFraction = quantity({
  min: 0,
  max: 1,
  default: 0,
  unit: 'fraction of updates',
  about: 'Share of the updates over which the learning rate rises linearly from 0.',
});

export const finalFraction = quantity({
  min: 0,
  max: 1,
  default: 0,
  unit: 'fraction of peak',
  about: 'Learning rate of the last update over the peak; 1 keeps it constant.',
});

/** Updates of the warm-up; the last of them is at the peak. */
export function warmupUpdates(total: number, fraction: number): number {
  return Math.round(total * fraction);
}

/**
 * Linear warm-up, then a fall to a share of the peak.
 *
 *   u < w:  η = peak · (u + 1) / w
 *   else:   η = peak · (f + (1 − f) · fall(p)),  p = (u − w) / max(1, total − 1 − w)
 *
 * @param fall  maps the completed share of the fall, in [0, 1], to [1, 0]
 */
export function decaySchedule(
  { peak, total }: ScheduleSpan,
  settings: { readonly warmupFraction: number; readonly finalFraction: number },
  fall: (progress: number) => number,
): Schedule {
  const { finalFraction: end } = settings;
  const warmup = warmupUpdates(total, settings.warmupFraction);
  return (update) => {
    if (update < warmup) return (peak * (update + 1)) / warmup;
    const progress = Math.min(1, (update - warmup) / Math.max(1, total - 1 - warmup));
    return peak * (end + (1 - end) * fall(progress));
  };
}
