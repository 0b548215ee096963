/** Thresholds of all detectors, as a section of a run's settings. */
import type { SettingsSchema } from '@saccade/core/settings';
import { z } from 'zod';
import type { Detector } from './audit.ts';
import { detectors } from './registry.ts';

/** By detector: `tool-spam.alarmShare`. */
export type AuditSettings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The thresholds of every detector of the catalog, below its name. */
export const auditSettings: SettingsSchema = z.strictObject(
  Object.fromEntries(
    detectors.entries().map(([name, { settings }]) => [name, settings.prefault({})]),
  ),
);

/**
 * The detectors of the catalog with a run's thresholds.
 *
 * @throws ConfigError for a detector or a threshold that is not known
 */
export function detectorsWith(thresholds: AuditSettings): readonly Detector[] {
  for (const name of Object.keys(thresholds)) detectors.get(name);
  return detectors.entries().map(([name, detector]) => detector.with(thresholds[name] ?? {}));
}
