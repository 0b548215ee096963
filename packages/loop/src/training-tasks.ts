/** Chooses the tasks of the training split to roll out: the next ones, or known ones again. */
import { StateError } from '@saccade/core';
import type { Run } from './run.ts';

/** An index of the training split. */
export type TaskIndex = number;

export class TrainingTasks {
  readonly #run: Run;
  /** Undefined where no scheduler asks again: it would grow with the run. */
  readonly #known: Map<string, TaskIndex> | undefined;

  /** @param known as `known` said in another process */
  constructor(run: Run, repeats: boolean, known: readonly (readonly [string, TaskIndex])[] = []) {
    this.#run = run;
    this.#known = repeats ? new Map(known) : undefined;
  }

  /** The indices of tasks that may be asked for again, by the tasks' ids. */
  get known(): readonly (readonly [string, TaskIndex])[] {
    return [...(this.#known ?? [])];
  }

  /** Takes the next tasks that the cold start has not shown. */
  take(count: number): readonly TaskIndex[] {
    const { parts, state } = this.#run;
    const first = (parts.coldStart?.taskCount ?? 0) + state.tasksTaken;
    this.#run.state = { ...state, tasksTaken: state.tasksTaken + count };
    return Array.from({ length: count }, (_, i) => first + i);
  }

  /** Remembers where a task came from. */
  note(taskId: string, index: TaskIndex): void {
    this.#known?.set(taskId, index);
  }

  /** @throws StateError for a task that was never noted */
  again(taskIds: readonly string[]): readonly TaskIndex[] {
    return taskIds.map((taskId) => {
      const index = this.#known?.get(taskId);
      if (index !== undefined) return index;
      throw new StateError(
        `The scheduler wants task ${taskId} again, which this run has not rolled out. ` +
          'Give its kind repeatsTasks: true.',
      );
    });
  }
}
