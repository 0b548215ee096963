/** The trackers of this package, by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { TrackerUnit } from './tracker.ts';
import * as catalog from './trackers/catalog.ts';

/** Trackers by name. */
export const trackers: Registry<TrackerUnit> = defineRegistry<TrackerUnit>('tracker', catalog);

/** The units of this package, with the literal types of their names and settings. */
export type KnownTracker = (typeof catalog)[keyof typeof catalog];
