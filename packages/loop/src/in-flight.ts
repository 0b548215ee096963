/** Shared by both ways to roll out beside training: tasks in flight, their ends, their record. */

import { scoreRollouts } from '@saccade/eval';
import type { Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import type { ScoredGroupResult } from '@saccade/rewards';
import type { CancelReason, ScheduleEvent } from '@saccade/schedulers';
import type { Trajectory } from '@saccade/trajectory';
import { baselinesPerTask } from './baseline.ts';
import { InFlightTask, type StoredTask } from './in-flight-task.ts';
import type { Run } from './run.ts';
import type { TaskIndex, TrainingTasks } from './training-tasks.ts';

/** Receives what happens in flight. */
export interface FlightListener {
  post(event: ScheduleEvent): void;
  /** A group has been scored, whatever came of it; its event follows. */
  scored(result: ScoredGroupResult, task: Task): void;
  /** Something broke that is not a failure of a rollout. */
  fail(error: unknown): void;
}

export interface StoredFlight {
  readonly ordinal: number;
  /** Tasks that were asked for and have not begun. */
  readonly waiting: readonly TaskIndex[];
  readonly tasks: readonly StoredTask[];
}

export interface FlightOptions {
  readonly run: Run;
  /** Says versions as training counts them. */
  readonly policy: Sampler;
  readonly tasks: TrainingTasks;
  readonly listener: FlightListener;
}

/** Rolls out the tasks it is given. */
export abstract class InFlight {
  protected readonly options: FlightOptions;
  /** In the order in which they began. */
  protected tasks: readonly InFlightTask[] = [];
  protected waiting: readonly TaskIndex[] = [];
  #ordinal = 0;

  constructor(options: FlightOptions) {
    this.options = options;
  }

  /** Trajectories that have not ended, and those of tasks that have not begun. */
  get trajectoryCount(): number {
    const { config, parts } = this.options.run;
    const each = config.rl.groupSize + baselinesPerTask(parts.algorithm);
    const open = this.tasks
      .filter(({ isOver }) => !isOver)
      .flatMap(({ samples }) => samples.filter(({ trajectory }) => trajectory === undefined));
    return open.length + this.waiting.length * each;
  }

  abstract begin(indices: readonly TaskIndex[]): void;
  abstract cancel(taskId: string, reason: CancelReason): void;
  /** Begins the unfinished trajectories of a task anew. */
  abstract restart(taskId: string): void;
  /** Stops everything and waits until it has let go; nothing is reported any more. */
  abstract stop(): Promise<void>;

  /** All of it at this moment, with the ledgers it names. */
  store(): { readonly stored: StoredFlight; readonly trajectories: readonly Trajectory[] } {
    const tasks = this.tasks.map((task) => task.store());
    return {
      stored: {
        ordinal: this.#ordinal,
        waiting: this.waiting,
        tasks: tasks.map(({ stored }) => stored),
      },
      trajectories: tasks.flatMap(({ trajectories }) => trajectories),
    };
  }

  /** Takes up what another process was at. */
  protected async load(
    { ordinal, waiting, tasks }: StoredFlight,
    find: (id: string) => Trajectory,
  ): Promise<void> {
    const { run, policy } = this.options;
    const { taskSet } = run.parts;
    this.#ordinal = ordinal;
    this.tasks = await Promise.all(
      tasks.map(async (stored) => {
        const task = await taskSet.task('train', stored.index);
        return new InFlightTask({ run, policy, task, ...stored, stored, find });
      }),
    );
    this.waiting = waiting;
  }

  /** Makes the tasks that wait, and begins them in their order. */
  protected async startWaiting(): Promise<readonly InFlightTask[]> {
    const { run, policy, tasks, listener } = this.options;
    const indices = this.waiting;
    const made = await Promise.all(indices.map((i) => run.parts.taskSet.task('train', i)));
    this.waiting = this.waiting.slice(indices.length);
    const started = made.map((task, i) => {
      const index = indices[i] as TaskIndex;
      tasks.note(task.id, index);
      return new InFlightTask({ run, policy, task, index, ordinal: this.#ordinal++ });
    });
    this.tasks = [...this.tasks, ...started];
    for (const { task } of started) listener.post({ kind: 'taskStarted', taskId: task.id });
    return started;
  }

  protected find(taskId: string): InFlightTask | undefined {
    return this.tasks.find(({ task, isOver }) => task.id === taskId && !isOver);
  }

  /** Scores the finished trajectories of a task, and reports the result. */
  protected async report(task: InFlightTask): Promise<void> {
    const { run, listener } = this.options;
    const { group } = task;
    const { taskId } = group;
    const { retries } = run.config.rollout;
    const [result] =
      group.trajectories.length === 0
        ? []
        : await scoreRollouts({ ...run.parts, retries }, [group], [task.task]);
    this.tasks = this.tasks.filter((one) => one !== task);
    if (result !== undefined) listener.scored(result, task.task);
    const { reason } = task;
    listener.post(
      result !== undefined && result.scored.trajectories.length > 0
        ? { kind: 'groupScored', group: result.scored }
        : reason === undefined
          ? { kind: 'groupFailed', taskId }
          : { kind: 'groupCancelled', taskId, reason },
    );
  }
}
