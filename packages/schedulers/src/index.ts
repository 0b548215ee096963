export type { AdvantagedTrajectory, ScheduleCommand, ScheduleEvent, ScoredGroup, Scheduler } from './scheduler.ts';
