export { type AdvantagedGroup, populationStd, withAdvantages } from './advantaged-group.ts';
export { defineScheduler, type SchedulerDefinition } from './define-scheduler.ts';
export { countDrops } from './drop-counts.ts';
export { isBroken } from './filters/broken.ts';
export {
  dropAllBroken,
  dropUnanimous,
  dropUniform,
  type GroupFilter,
} from './filters/group-filters.ts';
export { type PassRateWindow, passRate } from './filters/pass-rate.ts';
export { type KnownScheduler, schedulers } from './registry.ts';
export type {
  AdvantagedTrajectory,
  CancelReason,
  DropReason,
  InFlightLimits,
  ScheduleCommand,
  ScheduleEvent,
  Scheduler,
  SchedulerKind,
  SchedulerOptions,
  ScoredGroup,
} from './scheduler.ts';
export {
  type AsynchronousOptions,
  asynchronous,
} from './schedulers/asynchronous.ts';
export {
  type DifficultyPrefilterOptions,
  difficultyPrefilter,
} from './schedulers/difficulty-prefilter.ts';
export {
  type DynamicSamplingOptions,
  dynamicSampling,
} from './schedulers/dynamic-sampling.ts';
export {
  type OversampleOptions,
  oversampleFilterRank,
} from './schedulers/oversample-filter-rank.ts';
export { synchronous } from './schedulers/synchronous.ts';
export { type TailPatchOptions, tailPatch } from './schedulers/tail-patch.ts';
export { type FormattedState, formatState, parseState } from './state-json.ts';
