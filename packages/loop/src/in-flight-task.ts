/** A task that is being rolled out: its trajectories, how far each is, and all of it as data. */
import type { Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import { ResumableRollout, type RetryBudgets, Stopped } from '@saccade/rollout';
import type { CancelReason } from '@saccade/schedulers';
import type { Group, Trajectory } from '@saccade/trajectory';
import { baselinesPerTask } from './baseline.ts';
import type { Run } from './run.ts';
import type { TaskIndex } from './training-tasks.ts';

/** A trajectory in flight, as JSON; ledgers are stored separately, by id. */
export interface StoredSample {
  readonly restarts: number;
  readonly spent: RetryBudgets;
  /** Id of the trajectory, if it has ended. */
  readonly ended?: string;
  /** Id and last observation of the ledger up to the last whole turn. */
  readonly partial?: { readonly id: string; readonly lastObservation: string };
}

export interface StoredTask {
  readonly index: TaskIndex;
  readonly ordinal: number;
  /** Ended, but not reported yet. */
  readonly isOver: boolean;
  readonly reason?: CancelReason;
  readonly samples: readonly StoredSample[];
}

export interface InFlightOptions {
  readonly run: Run;
  readonly policy: Sampler;
  readonly task: Task;
  readonly index: TaskIndex;
  /** Tasks that the run began before it: part of the rollouts' names, and so of their draws. */
  readonly ordinal: number;
  readonly stored?: StoredTask;
  /** Ledgers by their ids; needed with `stored`. */
  readonly find?: (id: string) => Trajectory;
}

export class InFlightTask {
  readonly task: Task;
  readonly index: TaskIndex;
  readonly ordinal: number;
  /** The samples of the group, and after them those of its baseline, where it has one. */
  readonly samples: readonly InFlightSample[];
  /** Nothing more is rolled out of it. */
  isOver: boolean;
  /** Why it was stopped. */
  reason: CancelReason | undefined;
  readonly #policy: Sampler;

  constructor(options: InFlightOptions) {
    const { run, stored } = options;
    this.task = options.task;
    this.index = options.index;
    this.ordinal = options.ordinal;
    this.isOver = stored?.isOver ?? false;
    this.reason = stored?.reason;
    this.#policy = options.policy;
    this.samples = Array.from(
      { length: run.config.rl.groupSize + baselinesPerTask(run.parts.algorithm) },
      (_, sampleIndex) => new InFlightSample(options, sampleIndex, this.#prefixKey),
    );
  }

  get hasEnded(): boolean {
    return this.samples.every(({ trajectory }) => trajectory !== undefined);
  }

  /**
   * Trajectories that have ended, failed ones among them. A baseline that was stopped is a failure:
   * without it the group has no advantages.
   */
  get group(): Group {
    const own = this.samples.filter(({ isBaseline }) => !isBaseline);
    const baseline = this.samples.find(({ isBaseline }) => isBaseline);
    return {
      taskId: this.task.id,
      trajectories: own.flatMap(({ trajectory }) => trajectory ?? []),
      ...(baseline && { baseline: baseline.trajectory ?? baseline.rollout.soFar() }),
    };
  }

  get #prefixKey(): string {
    return `train/${this.ordinal}/${this.task.id}/prompt`;
  }

  /** Stops what has not ended; it may still be letting go when this returns. */
  stop(reason: CancelReason | undefined): void {
    this.isOver = true;
    this.reason = reason;
    for (const sample of this.samples) if (sample.trajectory === undefined) sample.stop();
    this.#policy.release(this.#prefixKey);
  }

  store(): { readonly stored: StoredTask; readonly trajectories: readonly Trajectory[] } {
    const { index, ordinal, isOver, reason, samples } = this;
    const stored = samples.map((sample) => sample.store());
    return {
      stored: {
        index,
        ordinal,
        isOver,
        ...(reason !== undefined && { reason }),
        samples: stored,
      },
      trajectories: samples.flatMap(
        ({ trajectory, rollout }) => trajectory ?? rollout.partial?.trajectory ?? [],
      ),
    };
  }
}

export class InFlightSample {
  readonly isBaseline: boolean;
  trajectory: Trajectory | undefined;
  rollout: ResumableRollout;
  /** Times it was restarted. */
  restarts: number;
  readonly #open: (stop: AbortSignal) => ResumableRollout;
  #controller = new AbortController();
  #spent: RetryBudgets;

  constructor(
    { run, policy, task, ordinal, stored: storedTask, find }: InFlightOptions,
    sampleIndex: number,
    prefixKey: string,
  ) {
    const stored = storedTask?.samples[sampleIndex];
    this.restarts = stored?.restarts ?? 0;
    this.#spent = stored?.spent ?? {};
    const { config, parts } = run;
    const isBaseline = sampleIndex === config.rl.groupSize;
    this.isBaseline = isBaseline;
    let from = stored?.partial && {
      trajectory: find?.(stored.partial.id) as Trajectory,
      lastObservation: stored.partial.lastObservation,
    };
    this.trajectory = stored?.ended === undefined ? undefined : find?.(stored.ended);
    this.#open = (stop) => {
      const rollout = new ResumableRollout(policy, parts.makeEnv, task, {
        seed: config.seed,
        // A restarted rollout has other random numbers, and its requests do not mix with those it gave up.
        stream: `train/${ordinal}${this.restarts === 0 ? '' : `r${this.restarts}`}`,
        sampleIndex,
        isBaseline,
        temperature: config.rl.temperature,
        topK: config.rl.topK,
        topP: config.rl.topP,
        minP: config.rl.minP,
        maxTokensPerTurn: config.rollout.maxTurnTokens,
        maxContextTokens: config.rollout.maxContextTokens,
        images: parts.images,
        retries: config.rollout.retries,
        spent: this.#spent,
        stop,
        events: run.onEvent,
        ...(config.packing.sharedPrefix && { sharedPrefixKey: prefixKey }),
        ...(from && { from }),
      });
      from = undefined;
      return rollout;
    };
    this.rollout = this.#open(this.#controller.signal);
  }

  /** Whether it has taken a turn. */
  get hasBegun(): boolean {
    return this.rollout.partial !== undefined;
  }

  stop(): void {
    this.#controller.abort(new Stopped('cancelled', 'It was cancelled.'));
  }

  /** Begins anew from the prompt; what it was at is stopped. Gives the rollout that was given up. */
  renew(): ResumableRollout {
    const before = this.rollout;
    this.#spent = before.spent;
    this.stop();
    this.restarts++;
    this.#controller = new AbortController();
    this.rollout = this.#open(this.#controller.signal);
    return before;
  }

  store(): StoredSample {
    const { restarts, trajectory, rollout } = this;
    const { partial, spent } = rollout;
    if (trajectory !== undefined) return { restarts, spent, ended: trajectory.id };
    if (partial === undefined) return { restarts, spent };
    const { lastObservation } = partial;
    return { restarts, spent, partial: { id: partial.trajectory.id, lastObservation } };
  }
}
