export { type AdvantagedGroup, populationStd, withAdvantages } from './advantaged-group.ts';
export { countDrops } from './drop-counts.ts';
export { isBroken } from './filters/broken.ts';
export { dropAllBroken, dropUniform, type GroupFilter } from './filters/group-filters.ts';
export { schedulers } from './registry.ts';
export type {
  AdvantagedTrajectory,
  DropReason,
  ScheduleCommand,
  ScheduleEvent,
  Scheduler,
  SchedulerKind,
  SchedulerOptions,
  ScoredGroup,
} from './scheduler.ts';
export {
  type OversampleFilterRank,
  type OversampleOptions,
  oversampleFilterRank,
} from './schedulers/oversample-filter-rank.ts';
export { synchronous } from './schedulers/synchronous.ts';
