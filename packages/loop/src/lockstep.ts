/**
 * Rolls out in rounds, in step with training: a run of the same seed is the same, however long
 * things take.
 *
 * In a round every trajectory in flight takes one turn, and the trainer computes one gradient. When
 * all of it is there, the weights change, and what has ended is reported in the order in which it
 * began. So no draw, no batch and no weight depends on time; the price is that a slow tool holds up
 * its round.
 */
import type { CancelReason } from '@saccade/schedulers';
import type { Trajectory } from '@saccade/trajectory';
import { InFlight, type StoredFlight } from './in-flight.ts';
import type { InFlightSample, InFlightTask } from './in-flight-task.ts';
import type { TaskIndex } from './training-tasks.ts';

/** The trainer's part in a round. */
export interface RoundOfTraining {
  gradient(): Promise<void>;
  update(): Promise<void>;
}

export class Lockstep extends InFlight {
  #stopped: readonly InFlightTask[] = [];
  #givenUp: readonly Promise<void>[] = [];

  async resume(stored: StoredFlight, find: (id: string) => Trajectory): Promise<void> {
    await this.load(stored, find);
    this.#stopped = this.tasks.filter(({ isOver }) => isOver);
  }

  begin(indices: readonly TaskIndex[]): void {
    this.waiting = [...this.waiting, ...indices];
  }

  cancel(taskId: string, reason: CancelReason): void {
    const task = this.find(taskId);
    if (task === undefined) return;
    task.stop(reason);
    this.#stopped = [...this.#stopped, task];
  }

  restart(taskId: string): void {
    for (const sample of this.find(taskId)?.samples ?? []) {
      if (sample.trajectory !== undefined || !sample.hasBegun) continue;
      this.#givenUp = [...this.#givenUp, sample.renew().dispose()];
    }
  }

  async stop(): Promise<void> {
    for (const task of this.tasks) task.stop('runEnded');
    await Promise.all(
      this.tasks.flatMap(({ samples }) => samples.map((one) => one.rollout.dispose())),
    );
    await this.#letGo();
    this.tasks = [];
    this.waiting = [];
  }

  async round(training: RoundOfTraining): Promise<void> {
    await this.#settle();
    const active = this.#active();
    await Promise.all([training.gradient(), ...active.map(takeTurn)]);
    await training.update();
    const ended = new Set(active.filter(({ trajectory }) => trajectory !== undefined));
    for (const task of this.tasks) {
      for (const sample of task.samples) {
        if (task.isOver || !ended.has(sample)) continue;
        this.options.listener.post({ kind: 'trajectoryEnded', taskId: task.task.id });
      }
      if (task.isOver || !task.hasEnded) continue;
      task.stop(undefined);
      await this.report(task);
    }
    await this.#settle();
  }

  /**
   * The trajectories that take a turn: those in flight, then others in order while there is room.
   */
  #active(): readonly InFlightSample[] {
    const open = this.tasks
      .flatMap(({ samples }) => samples)
      .filter(({ trajectory }) => trajectory === undefined);
    const begun = open.filter(({ hasBegun }) => hasBegun);
    const room = Math.max(0, this.options.run.config.rollout.concurrency - begun.length);
    return [...begun, ...open.filter(({ hasBegun }) => !hasBegun).slice(0, room)];
  }

  /** Begins what was asked for and ends what was stopped, until neither leads to more. */
  async #settle(): Promise<void> {
    for (;;) {
      await this.#letGo();
      const [task, ...others] = this.#stopped;
      if (task !== undefined) {
        this.#stopped = others;
        await Promise.all(task.samples.map(({ rollout }) => rollout.dispose()));
        await this.report(task);
      } else if (this.waiting.length > 0) {
        await this.startWaiting();
      } else {
        return;
      }
    }
  }

  async #letGo(): Promise<void> {
    const letting = this.#givenUp;
    this.#givenUp = [];
    await Promise.all(letting);
  }
}

async function takeTurn(sample: InFlightSample): Promise<void> {
  sample.trajectory = await sample.rollout.turn();
}
