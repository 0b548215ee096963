/** Reinforcement learning that rolls out while it trains, for schedulers that stream. */
import type { Task } from '@saccade/gym';
import type { LearningPoint, LearnResult } from '@saccade/learner';
import type { ScoredGroupResult } from '@saccade/rewards';
import type { AdvantagedTrajectory, ScheduleCommand, ScheduleEvent } from '@saccade/schedulers';
import { afterStep } from './after-step.ts';
import { FreeRunning } from './free-running.ts';
import type { FlightListener, StoredFlight } from './in-flight.ts';
import { Lockstep } from './lockstep.ts';
import { nothingScored, stuckScheduler } from './loop-errors.ts';
import { meteredSampler, publish } from './metered.ts';
import { learnOptions, noteLearned, type Run, updatesDone } from './run.ts';
import { stalenessMetrics } from './staleness-metrics.ts';
import { stepRow } from './step-row.ts';
import { StepVersions } from './step-versions.ts';
import { readSchedule, writeSchedule } from './stored-schedule.ts';
import { TrainingTasks } from './training-tasks.ts';

/** The contents of a checkpoint besides the scheduler's state. */
interface Stored {
  readonly known: readonly (readonly [string, number])[];
  readonly version: number;
  /** The scheduler has not been told of the weights of the last batch. */
  readonly isPublishDue: boolean;
  readonly ready: readonly string[];
  readonly clockSeconds: number;
  readonly flight: StoredFlight;
}

/** Hears of every group that has been scored, whatever came of it. */
export type GroupObserver = FlightListener['scored'];

/** Runs the steps that are still to do. */
export async function reinforceStreaming(run: Run, observe?: GroupObserver): Promise<void> {
  if (run.state.rlSteps >= run.config.rl.steps) return;
  const { resumedFrom } = run;
  const stored = resumedFrom === undefined ? undefined : await readSchedule<Stored>(resumedFrom);
  const stream = new Stream(run, stored && { ...stored.more, state: stored.state }, observe);
  run.saveSchedule = (directory) => stream.save(directory);
  try {
    await publish(run);
    if (stored) await stream.resume(stored.more, stored.find);
    await (run.config.rl.deterministic ? stream.runInLockstep() : stream.runFreely());
  } finally {
    delete run.saveSchedule;
    await stream.stop();
  }
}

/** Since the last step. */
interface Window {
  readonly startedAt: number;
  commands: ScheduleCommand[];
  results: ScoredGroupResult[];
  tasks: Task[];
  /** Seconds without a batch to learn from, and without anything in flight. */
  waitedSeconds: number;
  idleSeconds: number;
}

class Stream implements FlightListener {
  readonly #run: Run;
  readonly #observe: GroupObserver | undefined;
  readonly #tasks: TrainingTasks;
  readonly #versions: StepVersions;
  readonly #flight: Lockstep | FreeRunning;
  readonly #inbox: ScheduleEvent[] = [];
  /** Groups that are scored and neither trained on nor dropped. */
  readonly #ready: Set<string>;
  readonly #clockStart: number;
  #state: unknown;
  /** Batches learned from. */
  #version: number;
  #isPublishDue: boolean;
  #batch: readonly AdvantagedTrajectory[] | undefined;
  #window = emptyWindow();
  /** Ends the count of what the process uses in the present step. */
  #endPhase: (() => Record<string, number>) | undefined;
  #isPumping = false;
  #emptySince: number | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;
  #wake: () => void = () => {};
  #failure: { readonly error: unknown } | undefined;

  constructor(
    run: Run,
    stored: (Omit<Stored, 'flight'> & { readonly state: unknown }) | undefined,
    observe?: GroupObserver,
  ) {
    const { parts, config } = run;
    this.#run = run;
    this.#observe = observe;
    const { repeatsTasks = false } = parts.schedulerKind;
    this.#tasks = new TrainingTasks(run, repeatsTasks, stored?.known);
    this.#versions = new StepVersions(meteredSampler(parts));
    this.#state = stored?.state ?? parts.scheduler.init();
    this.#version = stored?.version ?? 0;
    this.#isPublishDue = stored?.isPublishDue ?? false;
    this.#ready = new Set(stored?.ready);
    this.#clockStart = performance.now() - 1000 * (stored?.clockSeconds ?? 0);
    this.#endPhase = parts.work?.phase('step');
    this.#versions.begin(this.#version);
    const options = { run, policy: this.#versions.sampler, tasks: this.#tasks, listener: this };
    this.#flight = config.rl.deterministic ? new Lockstep(options) : new FreeRunning(options);
  }

  async resume({ flight }: Stored, find: Parameters<Lockstep['resume']>[1]): Promise<void> {
    await this.#flight.resume(flight, find);
  }

  async save(directory: string): Promise<void> {
    // All of one moment: nothing else runs before the first await in writeSchedule.
    const { stored: flight, trajectories } = this.#flight.store();
    const more: Stored = {
      known: this.#tasks.known,
      version: this.#version,
      isPublishDue: this.#isPublishDue,
      ready: [...this.#ready],
      clockSeconds: this.#seconds,
      flight,
    };
    await writeSchedule(directory, { state: this.#state, more, trajectories });
  }

  /** Stops what is in flight; the scheduler hears that the run has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#clock);
    await this.#flight.stop();
  }

  post(event: ScheduleEvent): void {
    this.#inbox.push(event);
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      const { scheduler } = this.#run.parts;
      for (let next = this.#inbox.shift(); next !== undefined; next = this.#inbox.shift()) {
        const [state, commands] = scheduler.next(this.#state, next);
        this.#state = state;
        if (next.kind === 'groupScored') this.#ready.add(next.group.taskId);
        this.#window.commands.push(...commands);
        for (const command of commands) this.#obey(command);
      }
    } finally {
      this.#isPumping = false;
    }
    this.#watchIdleness();
  }

  scored(result: ScoredGroupResult, task: Task): void {
    this.#window.results.push(result);
    this.#window.tasks.push(task);
    this.#observe?.(result, task);
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  async runInLockstep(): Promise<void> {
    const flight = this.#flight as Lockstep;
    this.#beginStep();
    for (;;) {
      const batch = this.#batch;
      if (batch === undefined && flight.trajectoryCount === 0) throw stuckScheduler(this.#run);
      const run = this.#run;
      const learning =
        batch && run.learner.learnInParts(batch, updatesDone(run), learnOptions(run));
      let learned: Readonly<Record<string, number>> | undefined;
      while (learned === undefined) {
        let part: IteratorResult<LearningPoint, LearnResult> | undefined;
        const startedAt = performance.now();
        await flight.round({
          gradient: async () => {
            part = await learning?.next();
          },
          update: async () => {
            if (part?.done === false) part = await learning?.next();
          },
        });
        if (learning === undefined) this.#window.waitedSeconds += secondsSince(startedAt);
        if (part?.done === true) learned = noteLearned(run, part.value);
        else if (learning === undefined) break;
      }
      if (batch === undefined || learned === undefined) continue;
      if (await this.#finishStep(batch, learned)) return;
    }
  }

  async runFreely(): Promise<void> {
    const { config, parts } = this.#run;
    const { taskDeadlineSeconds: deadlineSeconds } = parts;
    if (deadlineSeconds !== undefined) {
      const tick = (): void => this.post({ kind: 'clock', seconds: this.#seconds });
      this.#clock = setInterval(tick, Math.max(50, 100 * deadlineSeconds));
    }
    const inFlight = config.rl.staleCaches === 'keep' ? 'keep' : 'recompute';
    this.#beginStep();
    for (;;) {
      const batch = await this.#nextBatch();
      const run = this.#run;
      const options = { ...learnOptions(run), inFlight } as const;
      const learned = await run.learner.learn(batch, updatesDone(run), options);
      if (await this.#finishStep(batch, noteLearned(this.#run, learned))) return;
    }
  }

  get #seconds(): number {
    return secondsSince(this.#clockStart);
  }

  #beginStep(): void {
    if (this.#isPublishDue) {
      this.#isPublishDue = false;
      this.post({ kind: 'weightsPublished', version: this.#version });
    }
    this.post({ kind: 'stepStarted', step: this.#run.state.rlSteps });
  }

  #obey(command: ScheduleCommand): void {
    switch (command.kind) {
      case 'rollOut':
        this.#flight.begin(this.#tasks.take(command.count));
        break;
      case 'rollOutAgain':
        this.#flight.begin(this.#tasks.again(command.taskIds));
        break;
      case 'cancel':
        this.#flight.cancel(command.taskId, command.reason);
        break;
      case 'restart':
        this.#flight.restart(command.taskId);
        break;
      case 'drop':
        if (command.sampleIndex === undefined) this.#ready.delete(command.taskId);
        break;
      case 'trainOn':
        for (const { trajectory } of command.trajectories) this.#ready.delete(trajectory.taskId);
        this.#batch = command.trajectories;
        this.#wake();
        break;
      default:
        break;
    }
  }

  /** Waits until the scheduler has given a batch, or something broke. */
  async #nextBatch(): Promise<readonly AdvantagedTrajectory[]> {
    const startedAt = performance.now();
    while (this.#batch === undefined && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#window.waitedSeconds += secondsSince(startedAt);
    return this.#batch ?? [];
  }

  /** @returns whether it was the last */
  async #finishStep(
    batch: readonly AdvantagedTrajectory[],
    learned: Readonly<Record<string, number>>,
  ): Promise<boolean> {
    const run = this.#run;
    const { rl } = run.config;
    if (this.#failure !== undefined) throw this.#failure.error;
    const { commands, results, tasks, ...window } = this.#window;
    const nothing = batch.length > 0 ? undefined : nothingScored(run, results);
    if (nothing !== undefined) throw nothing;
    const idleSeconds = window.idleSeconds + this.#endIdleness();
    const seconds = secondsSince(window.startedAt);
    const used = { ...run.parts.work?.take(), ...this.#endPhase?.() };
    this.#endPhase = run.parts.work?.phase('step');
    this.#window = emptyWindow();
    this.#batch = undefined;
    const ages = stalenessMetrics(batch, this.#version, run.parts.scheduler.maxStaleness);
    if (batch.length > 0) {
      this.#version++;
      await publish(run);
      this.#versions.begin(this.#version);
      this.#isPublishDue = true;
    }
    run.state = { ...run.state, rlSteps: run.state.rlSteps + 1 };
    const sampled = results.flatMap(({ scored }) => scored.trajectories).flatMap(modelTokens);
    const row = {
      ...(await stepRow(run, { commands, results, tasks, trained: batch, learned })),
      ...ages,
      ...used,
      'queue/ready': this.#ready.size,
      'queue/in_flight': this.#flight.trajectoryCount,
      'time/wait_for_rollouts': window.waitedSeconds,
      'time/wait_for_training': idleSeconds,
      'throughput/tokens_per_second': sampled.reduce((sum, n) => sum + n, 0) / seconds,
    };
    await afterStep(run, row, seconds);
    if (run.state.rlSteps >= rl.steps) {
      this.post({ kind: 'runEnded' });
      return true;
    }
    this.#beginStep();
    return false;
  }

  /** Adds up the time in which nothing is in flight: then rollouts wait for training. */
  #watchIdleness(): void {
    if (this.#flight.trajectoryCount === 0) this.#emptySince ??= performance.now();
    else this.#window.idleSeconds += this.#endIdleness();
  }

  #endIdleness(): number {
    const since = this.#emptySince;
    if (since === undefined) return 0;
    this.#emptySince = this.#flight.trajectoryCount === 0 ? performance.now() : undefined;
    return secondsSince(since);
  }
}

function emptyWindow(): Window {
  return {
    startedAt: performance.now(),
    commands: [],
    results: [],
    tasks: [],
    waitedSeconds: 0,
    idleSeconds: 0,
  };
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1000;
}

function modelTokens({ segments }: ScoredGroupResult['scored']['trajectories'][number]): number[] {
  return segments.filter(({ kind }) => kind === 'model').map(({ tokens }) => tokens.length);
}
