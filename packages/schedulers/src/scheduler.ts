/**
 * Decides what to roll out and what to train on. Pure: same events, same commands. A state is plain
 * data: `formatState` and `parseState` take it to JSON and back at any point.
 *
 * A driver that trains in steps sends `stepStarted`, rolls out the tasks it is told to, sends one
 * `groupScored`, `groupFailed` or `groupCancelled` for each of them, and executes commands until it
 * gets `trainOn`, once per step. The events of a round are sent in the order in which its tasks
 * were taken, so that timing has no influence.
 *
 * A driver that streams sends more events: `taskStarted` and `trajectoryEnded` as they happen, the
 * `clock`, and `weightsPublished` after each optimizer step. Kinds with `isStreaming` need these,
 * and so do limits on what is in flight. A task is in flight at most once at a time.
 */
import type { SettingsInput, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Group, ScoredTrajectory } from '@saccade/trajectory';

/** The scored trajectories of one task. Failed ones are not in it, so it may have fewer than G. */
export type ScoredGroup = Group<ScoredTrajectory>;

/** Why a task was stopped before it ended. */
export type CancelReason = 'deadline' | 'tooStale' | 'runEnded' | 'cancelled';

/** An event that a driver reports to a scheduler. */
export type ScheduleEvent =
  /** A training step may begin: the weights of the one before are published. */
  | { readonly kind: 'stepStarted'; readonly step: number }
  /** A task that `rollOut` or `rollOutAgain` asked for has begun. */
  | { readonly kind: 'taskStarted'; readonly taskId: string }
  /** One trajectory of a task has ended, in whatever way; its memory is free. */
  | { readonly kind: 'trajectoryEnded'; readonly taskId: string }
  /** All trajectories of a task have ended and been scored. Failed ones are already left out. */
  | { readonly kind: 'groupScored'; readonly group: ScoredGroup }
  /** A task could not be rolled out at all. */
  | { readonly kind: 'groupFailed'; readonly taskId: string }
  /** A task was stopped before any of its trajectories ended; nothing further comes of it. */
  | { readonly kind: 'groupCancelled'; readonly taskId: string; readonly reason: CancelReason }
  /** The sampler has the weights after `version` optimizer steps. */
  | { readonly kind: 'weightsPublished'; readonly version: number }
  /**
   * Seconds of the driver's clock, which never goes back. Deadlines are checked as often as this.
   */
  | { readonly kind: 'clock'; readonly seconds: number }
  /**
   * The run ends: nothing more is trained on. The driver stops its tasks and reports each as usual.
   */
  | { readonly kind: 'runEnded' };

/**
 * Why something is not trained on; a closed set of stable words:
 *
 * - `groupFailed` no trajectory of the group could be rolled out and scored;
 * - `cancelled` `deadline` `runEnded` it was stopped: from outside, by its deadline, at the end;
 * - `tooStale` too many optimizer steps were taken since it was sampled;
 * - `allBroken` every trajectory of the group is broken;
 * - `uniformGroup` all rewards of the group are equal, or all its answers right, or all wrong: it
 *   teaches nothing;
 * - `tooEasy` `tooHard` the task's pass rate is above, or below, what is trained on;
 * - `probed` it only measured the pass rate of a task, which is trained on afterwards;
 * - `broken` this trajectory is broken and broken ones are dropped;
 * - `noImage` `tooLong` `badEnd` this trajectory looked at nothing; has too many tokens; ended for
 *   a reason that is not trained on;
 * - `rankedOut` the batch was full before it.
 */
export type DropReason =
  | CancelReason
  | 'groupFailed'
  | 'allBroken'
  | 'uniformGroup'
  | 'tooEasy'
  | 'tooHard'
  | 'probed'
  | 'broken'
  | 'noImage'
  | 'tooLong'
  | 'badEnd'
  | 'rankedOut';

/** A command of a scheduler to its driver; the driver carries them out in order. */
export type ScheduleCommand =
  /** Roll out the next `count` tasks of the training split. */
  | { readonly kind: 'rollOut'; readonly count: number }
  /** Roll out tasks that were rolled out before, with new random numbers. */
  | { readonly kind: 'rollOutAgain'; readonly taskIds: readonly string[] }
  /**
   * Stop what still runs of a task. If any of its trajectories has ended, the answer is
   * `groupScored` with those that have, else `groupCancelled` with this reason.
   */
  | { readonly kind: 'cancel'; readonly taskId: string; readonly reason: CancelReason }
  /** Restart the unfinished trajectories of a task from their prompt, with the newest weights. */
  | { readonly kind: 'restart'; readonly taskId: string }
  /** A trajectory or a whole group is not trained on, and why. */
  | {
      readonly kind: 'drop';
      readonly taskId: string;
      /** Absent where the whole group is dropped. */
      readonly sampleIndex?: number;
      readonly reason: DropReason;
    }
  /** No more is rolled out for this step, although the batch is not full; `trainOn` comes next. */
  | {
      readonly kind: 'exhausted';
      readonly rounds: number;
      /** Groups in the batch, and how many it should have. */
      readonly filled: number;
      readonly wanted: number;
    }
  /**
   * The batch is ready. Advantages were fixed on the full group before any trajectory was dropped.
   * It may be empty: then nothing of the step survived, and it takes no optimizer step.
   */
  | { readonly kind: 'trainOn'; readonly trajectories: readonly AdvantagedTrajectory[] };

/** A trajectory of a batch, with the advantage that it was given within its whole group. */
export interface AdvantagedTrajectory {
  readonly trajectory: ScoredTrajectory;
  readonly advantage: number;
  /** Population standard deviation of its group's rewards. */
  readonly groupStd: number;
  /** Whether it only fills its place: none of its tokens train or count. */
  readonly isMasked: boolean;
}

/**
 * A pure state machine. `next` takes a state and an event and returns a new state and commands; it
 * never changes the state it was given.
 */
export interface Scheduler<State = unknown> {
  readonly name: string;
  /** Most optimizer steps between sampling and training; 0 where it trains on-policy. */
  readonly maxStaleness: number;
  init(): State;
  next(state: State, event: ScheduleEvent): readonly [State, readonly ScheduleCommand[]];
}

/** The options that every scheduler gets from its driver. */
export interface SchedulerOptions {
  /** B: groups to train on per step. */
  readonly promptsPerStep: number;
  /** G: trajectories per group. */
  readonly groupSize: number;
  /**
   * Rollouts of a task beside the G of its group, for its baseline. They are no trajectories of the
   * group, but they too are in flight and end with `trajectoryEnded`. Default 0.
   */
  readonly baselinesPerTask?: number;
  /** A full group → [G] advantages: the algorithm's. */
  readonly advantages: (group: ScoredGroup) => Float64Array;
  /** Limits on what is in flight. Default: none. They need a driver that streams. */
  readonly inFlight?: InFlightLimits;
}

/** Limits on what is in flight. A task that does not fit waits until others have ended. */
export interface InFlightLimits {
  /** Most trajectories in flight; at least G, and the baselines of a task. */
  readonly maxTrajectories?: number;
  /** Most tokens that all of them may grow to; at least G · tokensPerTrajectory. */
  readonly maxTokens?: number;
  /** Tokens reserved for a trajectory: the longest context it may have. Needed with maxTokens. */
  readonly tokensPerTrajectory?: number;
  /** Seconds after which a task is cancelled; its finished trajectories are kept. */
  readonly deadlineSeconds?: number;
}

/** A kind of scheduler: what the registry holds. `settings` are the options a person can set. */
export interface SchedulerKind extends Unit {
  readonly name: string;
  /** arXiv id or citation. */
  readonly paper: string;
  /** Whether its driver has to stream: see the top of this file. Default false. */
  readonly isStreaming?: boolean;
  /** Whether it uses `rollOutAgain`, for which its driver finds tasks by id. Default false. */
  readonly repeatsTasks?: boolean;
  /** Options of its own, beside the defaults, that the contract runs it with. */
  readonly variants?: readonly Readonly<Record<string, unknown>>[];
  /**
   * @param options its settings, those left out at their defaults, and what the driver gives
   * @throws ConfigError for an option out of range
   */
  create(options: SchedulerOptions): Scheduler;
}

/** A kind with the literal type of its name and its own settings. */
export interface SchedulerUnit<Name extends string, Schema extends SettingsSchema>
  extends SchedulerKind,
    Unit<Schema> {
  readonly name: Name;
  readonly description: string;
  readonly settings: Schema;
  create(options: SchedulerOptions & SettingsInput<Schema>): Scheduler;
}
