export { type ChosenTracker, CLOSE_SECONDS, openTrackers, type Trackers } from './open-trackers.ts';
export { type KnownTracker, trackers } from './registry.ts';
export { defineTracker, type Tracker, type TrackerContext, type TrackerUnit } from './tracker.ts';
