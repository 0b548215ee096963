/** The settings and the unit of a slot, for whoever opens it. */
import { ConfigError } from '@saccade/core';
import type { Selected } from './slots/slot.ts';

/** The settings of a unit, without its name. */
export function settingsOf({ name: _, ...settings }: Selected): Readonly<Record<string, unknown>> {
  return settings;
}

/** The unit of a slot that every run fills. @throws ConfigError if it is empty */
export function required<Some>(unit: Some | undefined): Some {
  if (unit !== undefined) return unit;
  throw new ConfigError(
    '',
    'A slot of the run is empty. Leave it out of the recipe instead of null.',
  );
}
