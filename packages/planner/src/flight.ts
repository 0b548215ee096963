/** Rollouts in flight on simulated engines and tools: what a loop's driver does, on a fake clock. */
import { type Random, randomAt } from '@saccade/core';
import type { CancelReason } from '@saccade/schedulers';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { Agenda } from './agenda.ts';
import type { Engine } from './engine.ts';
import type { EngineJob } from './engine-job.ts';
import type { Pool } from './pool.ts';
import { type GroupProfile, type TrajectoryProfile, trajectoryOf } from './profile.ts';

/** The parts that rollouts use, and what they are drawn from. */
export interface FlightParts {
  readonly agenda: Agenda;
  readonly engines: readonly Engine[];
  readonly tools: Pool;
  /** Servers that open sandboxes. */
  readonly openings: Pool;
  /** The process that drives the rollouts, between their turns. */
  readonly main: Pool;
  /** Places for trajectories; others wait. */
  readonly places: Pool;
  readonly groups: readonly GroupProfile[];
  readonly groupSize: number;
  /** How much less a group's prompt takes on an engine that has had it, 0 to 1. */
  readonly promptSharing: number;
  /** Seconds of a request beside its tokens: the way to the engine and back. */
  readonly requestSeconds: number;
  /** Seconds before a trajectory's first tool: its sandbox opens, one at a time on each server. */
  readonly openSeconds: number;
  /** Share of the recorded seconds of a tool in which it works. */
  readonly workShare: number;
  /** Seconds of the main process for each turn. */
  readonly mainSeconds: number;
  readonly seed: number;
}

/** Hears what happens to rollouts. */
export interface FlightListener {
  trajectoryEnded(taskId: string): void;
  /** Nothing of the task runs any more. */
  taskEnded(task: FlightTask): void;
}

/** A task in flight. */
export interface FlightTask {
  readonly taskId: string;
  readonly group: GroupProfile;
  readonly samples: readonly FlightSample[];
  /** Engines that have computed its prompt. */
  readonly promptOn: Set<Engine>;
  /** Why it was stopped; absent where it ended by itself. */
  reason?: CancelReason;
  isOver: boolean;
}

/** One trajectory of a task in flight. */
export interface FlightSample {
  readonly sampleIndex: number;
  profile: TrajectoryProfile;
  /** Raised where what was planned is void. */
  epoch: number;
  restarts: number;
  state: 'queued' | 'running' | 'ended';
  engine: Engine | undefined;
  job: EngineJob | undefined;
  /** Tokens of its context that are on its engine. */
  contextTokens: number;
  /** Version of the weights that sampled its first token. */
  version: number | undefined;
  /** Whether its sandbox has been opened. */
  hasSandbox: boolean;
}

export class Flight {
  readonly #parts: FlightParts;
  readonly #listener: FlightListener;
  readonly #tasks = new Map<string, FlightTask>();
  /** Tasks begun, for their draws. */
  #begun = 0;
  /** Published version of the weights. */
  version = 0;
  /** Tokens that ended trajectories sampled, and that were sampled in vain. */
  sampledTokens = 0;
  endedTrajectories = 0;

  constructor(parts: FlightParts, listener: FlightListener) {
    this.#parts = parts;
    this.#listener = listener;
  }

  get tasks(): readonly FlightTask[] {
    return [...this.#tasks.values()];
  }

  /** Trajectories that have not ended. */
  get trajectoryCount(): number {
    let count = 0;
    for (const { samples } of this.#tasks.values()) {
      for (const { state } of samples) if (state !== 'ended') count++;
    }
    return count;
  }

  /** Begins tasks; each is told of before any runs. */
  begin(taskIds: readonly string[], onStart: (taskId: string) => void): void {
    const begun = taskIds.map((taskId) => this.#open(taskId));
    for (const { taskId } of begun) onStart(taskId);
    for (const task of begun) {
      for (const sample of task.samples) if (!task.isOver) this.#queue(task, sample);
    }
  }

  cancel(taskId: string, reason: CancelReason): void {
    const task = this.#tasks.get(taskId);
    if (task === undefined || task.isOver) return;
    task.reason = reason;
    for (const sample of task.samples) {
      if (sample.state === 'ended') continue;
      this.#void(sample);
      if (sample.state === 'running') this.#parts.places.release();
    }
    this.#end(task);
  }

  restart(taskId: string): void {
    const task = this.#tasks.get(taskId);
    for (const sample of task?.samples ?? []) {
      if (task === undefined || sample.state === 'ended') continue;
      const wasRunning = sample.state === 'running';
      this.#void(sample);
      sample.restarts++;
      sample.version = undefined;
      if (wasRunning) this.#start(task, sample, true);
    }
  }

  /**
   * Tokens of all contexts on each engine, what is shared once: what new weights make void. One walk
   * over the rollouts for all engines, as there may be hundreds.
   */
  contextTokens(): ReadonlyMap<Engine, number> {
    const tokens = new Map<Engine, number>();
    const add = (engine: Engine, count: number) => {
      tokens.set(engine, (tokens.get(engine) ?? 0) + count);
    };
    for (const { samples, group } of this.#tasks.values()) {
      const seen = new Set<Engine>();
      for (const { engine, state, contextTokens } of samples) {
        if (engine === undefined || state !== 'running') continue;
        const own = seen.has(engine) ? 1 - this.#parts.promptSharing : 1;
        seen.add(engine);
        add(engine, contextTokens + own * group.promptTokens);
      }
    }
    return tokens;
  }

  /** The trajectories of a task that have ended, as a scheduler takes them. */
  trajectoriesOf(task: FlightTask): readonly ScoredTrajectory[] {
    const { promptTokens } = task.group;
    return task.samples.flatMap(({ state, profile, sampleIndex, version = 0 }) =>
      state === 'ended'
        ? [
            trajectoryOf(profile, promptTokens, {
              taskId: task.taskId,
              sampleIndex,
              policyVersion: version,
            }),
          ]
        : [],
    );
  }

  #open(taskId: string): FlightTask {
    const { groups, groupSize, seed } = this.#parts;
    const random = randomAt(seed, 'task', this.#begun++);
    const group = random.pick(groups);
    const drawn = drawTrajectories(group, groupSize, random);
    const task: FlightTask = {
      taskId,
      group,
      promptOn: new Set(),
      isOver: false,
      samples: drawn.map((profile, sampleIndex) => ({
        sampleIndex,
        profile,
        epoch: 0,
        restarts: 0,
        state: 'queued',
        engine: undefined,
        job: undefined,
        contextTokens: 0,
        version: undefined,
        hasSandbox: false,
      })),
    };
    this.#tasks.set(taskId, task);
    return task;
  }

  #queue(task: FlightTask, sample: FlightSample): void {
    const { places } = this.#parts;
    places.take(() => {
      if (task.isOver || sample.state === 'ended') places.release();
      else this.#start(task, sample, false);
    });
  }

  /** @param isHeld whether it has its place already */
  #start(task: FlightTask, sample: FlightSample, isHeld: boolean): void {
    const { engines, promptSharing } = this.#parts;
    if (isHeld) sample.epoch++;
    sample.state = 'running';
    sample.contextTokens = 0;
    const engine = engines.reduce((least, one) => (one.load < least.load ? one : least));
    sample.engine = engine;
    const own = task.promptOn.has(engine) ? 1 - promptSharing : 1;
    const prompt = own * task.group.promptTokens;
    task.promptOn.add(engine);
    sample.hasSandbox = false;
    this.#turn(task, sample, 0, prompt);
  }

  #turn(task: FlightTask, sample: FlightSample, index: number, prefillTokens: number): void {
    const turn = sample.profile.turns[index];
    const { engine } = sample;
    if (turn === undefined || engine === undefined) {
      this.#finish(task, sample);
      return;
    }
    sample.contextTokens += index === 0 ? 0 : prefillTokens;
    const { main, mainSeconds, requestSeconds } = this.#parts;
    this.#serve(main, mainSeconds, task, sample, () => {
      this.#after(requestSeconds, task, sample, () => {
        sample.job = engine.request({
          prefillTokens,
          decodeTokens: turn.modelTokens,
          onBegin: () => {
            sample.version ??= this.version;
          },
          onEnd: () => {
            sample.job = undefined;
            sample.contextTokens += turn.modelTokens;
            this.sampledTokens += turn.modelTokens;
            this.#observe(task, sample, index);
          },
        });
      });
    });
  }

  #observe(task: FlightTask, sample: FlightSample, index: number): void {
    const turn = sample.profile.turns[index];
    const isLast = index + 1 === sample.profile.turns.length;
    const next = (): void => {
      if (isLast) this.#finish(task, sample);
      else this.#turn(task, sample, index + 1, turn?.observationTokens ?? 0);
    };
    if (turn?.toolSeconds === undefined) {
      next();
      return;
    }
    const { openings, openSeconds, tools, workShare } = this.#parts;
    const seconds = workShare * turn.toolSeconds;
    // A sandbox opens on its first use.
    const isOpen = sample.hasSandbox;
    sample.hasSandbox = true;
    this.#serve(openings, isOpen ? 0 : openSeconds, task, sample, () => {
      const { epoch } = sample;
      tools.serve(seconds, () => {
        if (sample.epoch === epoch && !task.isOver) next();
      });
    });
  }

  #finish(task: FlightTask, sample: FlightSample): void {
    sample.state = 'ended';
    sample.engine = undefined;
    this.endedTrajectories++;
    this.#parts.places.release();
    this.#listener.trajectoryEnded(task.taskId);
    if (!task.isOver && task.samples.every(({ state }) => state === 'ended')) this.#end(task);
  }

  #end(task: FlightTask): void {
    task.isOver = true;
    this.#tasks.delete(task.taskId);
    this.#listener.taskEnded(task);
  }

  /** Takes back what a trajectory has under way. A tool that runs goes on, for nobody. */
  #void(sample: FlightSample): void {
    sample.epoch++;
    if (sample.job !== undefined) sample.engine?.abort(sample.job);
    sample.job = undefined;
    sample.engine = undefined;
  }

  /** As `after`, with a server of a pool. */
  #serve(
    pool: Pool,
    seconds: number,
    task: FlightTask,
    sample: FlightSample,
    run: () => void,
  ): void {
    if (seconds <= 0) {
      run();
      return;
    }
    const { epoch } = sample;
    pool.serve(seconds, () => {
      if (sample.epoch === epoch && !task.isOver) run();
    });
  }

  #after(seconds: number, task: FlightTask, sample: FlightSample, run: () => void): void {
    if (seconds <= 0) {
      run();
      return;
    }
    const { epoch } = sample;
    this.#parts.agenda.after(seconds, () => {
      if (sample.epoch === epoch && !task.isOver) run();
    });
  }
}

/** G trajectories of a group: the recorded ones in random order, and again once all were drawn. */
function drawTrajectories(
  { trajectories }: GroupProfile,
  count: number,
  random: Random,
): readonly TrajectoryProfile[] {
  const drawn: TrajectoryProfile[] = [];
  while (drawn.length < count) drawn.push(...random.shuffle(trajectories));
  return drawn.slice(0, count);
}
