/** Rolls out as fast as it goes, each trajectory on its own, and reports what ends when it ends. */
import type { CancelReason } from '@saccade/schedulers';
import type { Trajectory } from '@saccade/trajectory';
import pLimit, { type LimitFunction } from 'p-limit';
import { type FlightOptions, InFlight, type StoredFlight } from './in-flight.ts';
import type { InFlightSample, InFlightTask } from './in-flight-task.ts';
import type { TaskIndex } from './training-tasks.ts';

export class FreeRunning extends InFlight {
  readonly #limit: LimitFunction;
  /** Everything under way; none of them rejects. */
  readonly #running = new Set<Promise<void>>();
  #starting: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: FlightOptions) {
    super(options);
    this.#limit = pLimit(options.run.config.rollout.concurrency);
  }

  async resume(stored: StoredFlight, find: (id: string) => Trajectory): Promise<void> {
    await this.load(stored, find);
    for (const task of this.tasks) {
      if (task.isOver || task.hasEnded) this.#end(task, task.reason);
      else this.#rollOut(task);
    }
    this.begin([]);
  }

  begin(indices: readonly TaskIndex[]): void {
    this.waiting = [...this.waiting, ...indices];
    this.#starting = this.#starting.then(() => this.#start());
    this.#track(this.#starting);
  }

  cancel(taskId: string, reason: CancelReason): void {
    const task = this.find(taskId);
    if (task !== undefined) this.#end(task, reason);
  }

  restart(taskId: string): void {
    // The old rollout sees that it was stopped and ends; the loop continues with the new one.
    for (const sample of this.find(taskId)?.samples ?? []) {
      if (sample.trajectory === undefined) sample.renew();
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.waiting = [];
    for (const task of this.tasks) if (!task.isOver) task.stop('runEnded');
    while (this.#running.size > 0) await Promise.all(this.#running);
    this.tasks = [];
  }

  async #start(): Promise<void> {
    if (this.#isStopped || this.waiting.length === 0) return;
    for (const task of await this.startWaiting()) {
      if (this.#isStopped) task.stop('runEnded');
      // Told that it has begun, the scheduler may have stopped it.
      else if (!task.isOver) this.#rollOut(task);
    }
  }

  #rollOut(task: InFlightTask): void {
    for (const sample of task.samples) {
      if (sample.trajectory === undefined) {
        this.#track(this.#limit(() => this.#drive(task, sample)));
      }
    }
  }

  async #drive(task: InFlightTask, sample: InFlightSample): Promise<void> {
    while (!task.isOver && sample.trajectory === undefined) {
      const { rollout } = sample;
      const ended = await rollout.turn();
      if (task.isOver) await rollout.dispose();
      else if (rollout === sample.rollout) sample.trajectory = ended;
      else await rollout.dispose();
    }
    if (task.isOver) return;
    this.options.listener.post({ kind: 'trajectoryEnded', taskId: task.task.id });
    if (!task.isOver && task.hasEnded) this.#end(task, undefined);
  }

  #end(task: InFlightTask, reason: CancelReason | undefined): void {
    task.stop(reason);
    this.#track(this.#isStopped ? Promise.resolve() : this.report(task));
  }

  #track(work: Promise<void>): void {
    const { listener } = this.options;
    const tracked: Promise<void> = work
      .catch((error: unknown) => listener.fail(error))
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }
}
