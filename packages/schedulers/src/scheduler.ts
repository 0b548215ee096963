/** Decides what to roll out and what to train on. Pure: same events, same commands. */
import type { Group, ScoredTrajectory } from '@saccade/trajectory';

export type ScoredGroup = Group<ScoredTrajectory>;

export type ScheduleEvent =
  /** A training step may begin. */
  | { readonly kind: 'stepStarted'; readonly step: number }
  /** All trajectories of a task have ended and been scored. Failed ones are already left out. */
  | { readonly kind: 'groupScored'; readonly group: ScoredGroup }
  /** A task could not be rolled out at all. */
  | { readonly kind: 'groupFailed'; readonly taskId: string };

export type ScheduleCommand =
  /** Roll out the next `count` tasks of the training split. */
  | { readonly kind: 'rollOut'; readonly count: number }
  /** A trajectory or a whole group is not trained on, and why. */
  | { readonly kind: 'drop'; readonly taskId: string; readonly sampleIndex?: number; readonly reason: string }
  /** The batch is ready. Advantages were fixed on the full group before any trajectory was dropped. */
  | { readonly kind: 'trainOn'; readonly trajectories: readonly AdvantagedTrajectory[] };

export interface AdvantagedTrajectory {
  readonly trajectory: ScoredTrajectory;
  readonly advantage: number;
  /** Population standard deviation of its group's rewards. */
  readonly groupStd: number;
}

export interface Scheduler<State = unknown> {
  readonly name: string;
  init(): State;
  next(state: State, event: ScheduleEvent): readonly [State, readonly ScheduleCommand[]];
}
