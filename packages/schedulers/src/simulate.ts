/**
 * A driver with workers and a trainer on a fake clock. It rolls out what a scheduler asks for, in
 * simulated time, with slow tools, failures at every boundary, cancellations and crashes.
 */
import { type Random, randomAt } from '@saccade/core';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { rolloutsPerTask } from './in-flight.ts';
import type {
  AdvantagedTrajectory,
  ScheduleCommand,
  ScheduleEvent,
  Scheduler,
} from './scheduler.ts';
import { drawAttempt, type SimulationOptions, trajectoryOf } from './simulated-task.ts';
import { formatState, parseState } from './state-json.ts';

/** One event and the commands that answered it. */
export interface LogEntry {
  /** Seconds of the fake clock. */
  readonly time: number;
  readonly event: ScheduleEvent;
  readonly commands: readonly ScheduleCommand[];
}

/** The record of a simulated run: its events and commands, and its totals. */
export interface Simulation {
  readonly log: readonly LogEntry[];
  /** Tasks the scheduler asked for, in order, each once. */
  readonly taskIds: readonly string[];
  /** Seconds of the fake clock at the end. */
  readonly seconds: number;
  /** Optimizer steps; fewer than steps where batches were empty. */
  readonly optimizerSteps: number;
  /** Most trajectories in flight at a time. */
  readonly mostInFlight: number;
  /** Staleness of every trajectory trained on, in optimizer steps: how many have each. */
  readonly staleness: readonly number[];
  /** Seconds that the workers were busy, summed over all of them. */
  readonly workSeconds: number;
  /** Attempts that failed, by boundary. */
  readonly failures: Readonly<Record<string, number>>;
  /** Crashes after which the run continued from the state it had written. */
  readonly crashes: number;
}

const MOST_CRASHES = 3;

interface Rollout {
  readonly sampleIndex: number;
  attempt: number;
  /** Raised where what was planned is void: cancelled, restarted, crashed. */
  epoch: number;
  version: number;
  startedAt: number;
  state: 'queued' | 'running' | 'ended';
  scored?: ScoredTrajectory;
}

interface Job {
  readonly taskId: string;
  /** Times the task was rolled out before. */
  readonly visit: number;
  readonly rollouts: readonly Rollout[];
  isOver: boolean;
}

/**
 * Runs a scheduler for some steps, then ends the run. Groups are reported in the order they end, so
 * a scheduler that only works for one order is found out.
 *
 * @throws Error if a step never gets its batch, or gets one nobody asked for
 */
export function simulate(scheduler: Scheduler, options: SimulationOptions): Simulation {
  return new Driver(scheduler, options).run();
}

class Driver {
  readonly #scheduler: Scheduler;
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #log: LogEntry[] = [];
  readonly #taskIds: string[] = [];
  readonly #visits = new Map<string, number>();
  readonly #jobs = new Map<string, Job>();
  readonly #slots: (() => void)[] = [];
  readonly #agenda: { time: number; run: () => void }[] = [];
  readonly #inbox: ScheduleEvent[] = [];
  readonly #store = new Map<string, ScoredTrajectory>();
  readonly #staleness: number[] = [];
  readonly #failures: Record<string, number> = {};
  #state: unknown;
  #time = 0;
  #version = 0;
  #steps = 0;
  #isAsked = false;
  #isEnded = false;
  #busy = 0;
  #inFlight = 0;
  #mostInFlight = 0;
  #workSeconds = 0;
  #crashes = 0;

  constructor(scheduler: Scheduler, options: SimulationOptions) {
    this.#scheduler = scheduler;
    this.#options = options;
    this.#random = randomAt(options.seed, 'simulate');
    this.#state = scheduler.init();
  }

  run(): Simulation {
    const { tickSeconds = 0, crashSeconds = 0, endSeconds } = this.#options;
    if (endSeconds !== undefined) this.#at(endSeconds, () => this.#end());
    if (tickSeconds > 0) this.#at(tickSeconds, () => this.#tick(tickSeconds));
    if (crashSeconds > 0) this.#at(this.#wait(crashSeconds), () => this.#crash(crashSeconds));
    this.#beginStep();
    this.#deliver();
    while (!this.#isDone()) {
      const next = this.#agenda.shift();
      if (next === undefined) {
        throw new Error(`${this.#scheduler.name}: step ${this.#steps} never gets its batch.`);
      }
      this.#time = next.time;
      next.run();
      this.#deliver();
      // Ticks continue forever, so a run that never ends is detected by its length.
      if (this.#log.length > 100_000) throw new Error(`${this.#scheduler.name} never ends.`);
    }
    return {
      log: this.#log,
      taskIds: this.#taskIds,
      seconds: this.#time,
      optimizerSteps: this.#version,
      mostInFlight: this.#mostInFlight,
      staleness: this.#staleness,
      workSeconds: this.#workSeconds,
      failures: this.#failures,
      crashes: this.#crashes,
    };
  }

  #isDone(): boolean {
    return this.#isEnded && this.#jobs.size === 0;
  }

  #at(time: number, run: () => void): void {
    let place = this.#agenda.length;
    while (place > 0 && (this.#agenda[place - 1]?.time ?? 0) > time) place--;
    this.#agenda.splice(place, 0, { time, run });
  }

  #wait(mean: number): number {
    return this.#time - mean * Math.log(this.#random.uniform());
  }

  #tick(seconds: number): void {
    this.#inbox.push({ kind: 'clock', seconds: this.#time });
    this.#at(this.#time + seconds, () => this.#tick(seconds));
  }

  /** The process of the rollouts dies: what was written survives, what ran begins again. */
  #crash(mean: number): void {
    this.#crashes++;
    const { json, trajectories } = formatState(this.#state);
    for (const one of trajectories) this.#store.set(one.id, one);
    this.#state = parseState(json, (id) => this.#store.get(id));
    for (const job of this.#jobs.values()) this.#beginAgain(job);
    // A rollout longer than the time between two crashes would never end.
    if (this.#crashes < MOST_CRASHES) this.#at(this.#wait(mean), () => this.#crash(mean));
  }

  #beginStep(): void {
    this.#isAsked = true;
    this.#inbox.push({ kind: 'stepStarted', step: this.#steps });
  }

  #deliver(): void {
    for (let event = this.#inbox.shift(); event !== undefined; event = this.#inbox.shift()) {
      const [after, commands] = this.#scheduler.next(this.#state, event);
      this.#state = after;
      this.#log.push({ time: this.#time, event, commands });
      for (const command of commands) this.#obey(command);
    }
  }

  #obey(command: ScheduleCommand): void {
    switch (command.kind) {
      case 'rollOut':
        for (let i = 0; i < command.count; i++) {
          const taskId = `task-${this.#taskIds.length}`;
          this.#taskIds.push(taskId);
          this.#begin(taskId);
        }
        break;
      case 'rollOutAgain':
        for (const taskId of command.taskIds) this.#begin(taskId);
        break;
      case 'cancel':
        this.#cancel(this.#jobs.get(command.taskId), command.reason);
        break;
      case 'restart':
        this.#beginAgain(this.#jobs.get(command.taskId));
        break;
      case 'trainOn':
        this.#train(command.trajectories);
        break;
      default:
        break;
    }
  }

  #train(batch: readonly AdvantagedTrajectory[]): void {
    if (!this.#isAsked) throw new Error(`${this.#scheduler.name} gives a batch nobody asked for.`);
    this.#isAsked = false;
    for (const { trajectory } of batch) {
      const stale = this.#version - trajectory.policyVersion;
      this.#staleness[stale] = (this.#staleness[stale] ?? 0) + 1;
    }
    const { steps, trainSeconds = 1 } = this.#options;
    this.#at(this.#time + (batch.length > 0 ? trainSeconds : 0), () => {
      if (batch.length > 0) {
        this.#version++;
        this.#inbox.push({ kind: 'weightsPublished', version: this.#version });
      }
      this.#steps++;
      if (this.#isEnded) return;
      if (this.#steps < steps) this.#beginStep();
      else this.#end();
    });
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#deliver();
    this.#isEnded = true;
    this.#inbox.push({ kind: 'runEnded' });
    this.#deliver();
    for (const job of this.#jobs.values()) this.#cancel(job, 'runEnded');
  }

  #begin(taskId: string): void {
    if (this.#isEnded) throw new Error(`${this.#scheduler.name} asks for more after the end.`);
    const visit = this.#visits.get(taskId) ?? 0;
    this.#visits.set(taskId, visit + 1);
    if (this.#jobs.has(taskId)) throw new Error(`${taskId} was asked for while it runs.`);
    const length = rolloutsPerTask(this.#options);
    const rollouts = Array.from({ length }, (_, sampleIndex) => ({
      sampleIndex,
      attempt: 0,
      epoch: 0,
      version: this.#version,
      startedAt: this.#time,
      state: 'queued' as const,
    }));
    const job: Job = { taskId, visit, rollouts, isOver: false };
    this.#jobs.set(taskId, job);
    this.#inFlight += rollouts.length;
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#inFlight);
    this.#inbox.push({ kind: 'taskStarted', taskId });
    for (const rollout of rollouts) this.#queue(job, rollout);
    const { cancelRate = 0 } = this.#options;
    if (cancelRate > 0 && this.#random.uniform() < cancelRate) {
      this.#at(this.#wait(1), () => this.#cancel(job, 'cancelled'));
    }
  }

  /** Takes a worker, or waits for one. */
  #queue(job: Job, rollout: Rollout): void {
    rollout.state = 'queued';
    const { epoch } = rollout;
    const take = (): void => {
      if (rollout.epoch === epoch && !job.isOver) this.#start(job, rollout);
      else this.#freeSlot();
    };
    if (this.#busy < (this.#options.workers ?? Number.POSITIVE_INFINITY)) {
      this.#busy++;
      take();
    } else {
      this.#slots.push(take);
    }
  }

  /** Gives a free worker to the next one that waits. */
  #freeSlot(): void {
    const next = this.#slots.shift();
    if (next !== undefined) next();
    else this.#busy--;
  }

  #start(job: Job, rollout: Rollout): void {
    rollout.state = 'running';
    rollout.version = this.#version;
    rollout.startedAt = this.#time;
    const { epoch } = rollout;
    const { seconds, boundary } = drawAttempt(this.#options, job, rollout);
    this.#at(this.#time + seconds, () => {
      if (rollout.epoch !== epoch || job.isOver) return;
      this.#workSeconds += seconds;
      if (boundary !== undefined) {
        this.#failures[boundary] = (this.#failures[boundary] ?? 0) + 1;
        rollout.attempt++;
        if (rollout.attempt <= (this.#options.retries ?? 1)) {
          this.#start(job, rollout);
          return;
        }
      }
      rollout.state = 'ended';
      this.#inFlight--;
      if (boundary === undefined) {
        rollout.scored = trajectoryOf(this.#options, job, rollout, this.#version);
      }
      this.#inbox.push({ kind: 'trajectoryEnded', taskId: job.taskId });
      if (job.rollouts.every(({ state }) => state === 'ended')) this.#report(job);
      this.#freeSlot();
    });
  }

  /** Unfinished rollouts start over, under the weights of the moment. */
  #beginAgain(job: Job | undefined): void {
    for (const rollout of job?.rollouts ?? []) {
      if (job === undefined || rollout.state === 'ended') continue;
      const wasRunning = rollout.state === 'running';
      rollout.epoch++;
      if (wasRunning) {
        this.#workSeconds += this.#time - rollout.startedAt;
        this.#start(job, rollout);
      } else {
        this.#queue(job, rollout);
      }
    }
  }

  #cancel(job: Job | undefined, reason: 'deadline' | 'tooStale' | 'runEnded' | 'cancelled'): void {
    if (job === undefined || job.isOver) return;
    for (const rollout of job.rollouts) {
      if (rollout.state === 'ended') continue;
      rollout.epoch++;
      this.#inFlight--;
      if (rollout.state === 'running') {
        this.#workSeconds += this.#time - rollout.startedAt;
        rollout.state = 'ended';
        this.#freeSlot();
      }
      rollout.state = 'ended';
    }
    this.#report(job, { kind: 'groupCancelled', taskId: job.taskId, reason });
  }

  /** @param lost the event where no group came of it */
  #report(job: Job, lost: ScheduleEvent = { kind: 'groupFailed', taskId: job.taskId }): void {
    this.#close(job);
    const { taskId, rollouts } = job;
    const { groupSize } = this.#options;
    const scored = rollouts.flatMap((one) => (one.scored ? [one.scored] : []));
    const trajectories = scored.filter(({ sampleIndex }) => sampleIndex < groupSize);
    const hasBaselines = scored.length - trajectories.length === rollouts.length - groupSize;
    this.#inbox.push(
      trajectories.length > 0 && hasBaselines
        ? { kind: 'groupScored', group: { taskId, trajectories } }
        : lost,
    );
  }

  #close(job: Job): void {
    job.isOver = true;
    this.#jobs.delete(job.taskId);
  }
}
