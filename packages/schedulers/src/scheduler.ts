/**
 * Decides what to roll out and what to train on. Pure: same events, same commands.
 *
 * A driver sends `stepStarted`, rolls out as many tasks as it is told, and sends one `groupScored`
 * or `groupFailed` for each of them; the events of a step go in the order its tasks were taken, so
 * that timing decides nothing. The answer to the last of them holds the one `trainOn` of the step.
 */
import type { Group, ScoredTrajectory } from '@saccade/trajectory';

export type ScoredGroup = Group<ScoredTrajectory>;

export type ScheduleEvent =
  /** A training step may begin. */
  | { readonly kind: 'stepStarted'; readonly step: number }
  /** All trajectories of a task have ended and been scored. Failed ones are already left out. */
  | { readonly kind: 'groupScored'; readonly group: ScoredGroup }
  /** A task could not be rolled out at all. */
  | { readonly kind: 'groupFailed'; readonly taskId: string };

/**
 * Why something is not trained on; a closed set of stable words:
 *
 * - `groupFailed` no trajectory of the group could be rolled out and scored;
 * - `allBroken` every trajectory of the group is broken;
 * - `uniformGroup` all rewards of the group are equal: it teaches nothing;
 * - `broken` this trajectory is broken and broken ones are dropped;
 * - `rankedOut` the batch was full before it.
 */
export type DropReason = 'groupFailed' | 'allBroken' | 'uniformGroup' | 'broken' | 'rankedOut';

export type ScheduleCommand =
  /** Roll out the next `count` tasks of the training split. */
  | { readonly kind: 'rollOut'; readonly count: number }
  /** A trajectory or a whole group is not trained on, and why. */
  | {
      readonly kind: 'drop';
      readonly taskId: string;
      /** Absent where the whole group is dropped. */
      readonly sampleIndex?: number;
      readonly reason: DropReason;
    }
  /**
   * The batch is ready. Advantages were fixed on the full group before any trajectory was dropped.
   * It may be empty: then nothing of the step survived, and it takes no optimizer step.
   */
  | { readonly kind: 'trainOn'; readonly trajectories: readonly AdvantagedTrajectory[] };

export interface AdvantagedTrajectory {
  readonly trajectory: ScoredTrajectory;
  readonly advantage: number;
  /** Population standard deviation of its group's rewards. */
  readonly groupStd: number;
  /** True if it only fills its place: none of its tokens train, none count. */
  readonly isMasked: boolean;
}

export interface Scheduler<State = unknown> {
  readonly name: string;
  init(): State;
  next(state: State, event: ScheduleEvent): readonly [State, readonly ScheduleCommand[]];
}

/** What every scheduler is told. */
export interface SchedulerOptions {
  /** B: groups to train on per step. */
  readonly promptsPerStep: number;
  /** G: trajectories per group. */
  readonly groupSize: number;
  /** A full group → [G] advantages: the algorithm's. */
  readonly advantages: (group: ScoredGroup) => Float64Array;
}

/** A kind of scheduler: what the registry holds. Further options have defaults. */
export interface SchedulerKind {
  readonly name: string;
  /** arXiv id or citation. */
  readonly paper: string;
  /** One sentence for people. */
  readonly description: string;
  /** @throws ConfigError for an option out of range */
  create(options: SchedulerOptions): Scheduler;
}
