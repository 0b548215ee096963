/** Draws the samples of a suite that are not there yet, and scores them. */
import { DataError, type EventSink } from '@saccade/core';
import type { Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import type { Reward } from '@saccade/rewards';
import { type ModelImages, rolloutWithRetries } from '@saccade/rollout';
import { type EvaluatedTask, sampleKey } from '@saccade/run-store';
import type { ScoredTrajectory, Trajectory } from '@saccade/trajectory';
import { scoreRollouts } from '../score-rollouts.ts';
import type { OpenSuite } from './open-suite.ts';
import type { SuiteTasks } from './suite-tasks.ts';

/** Where samples go, and what is there already. */
export interface SampleSink {
  /** Whether a sample is there and has a score. */
  has(taskId: string, sampleIndex: number): boolean;
  /** The rollout of a sample that could not be scored before, with its images. */
  unscored(taskId: string, sampleIndex: number): Promise<Trajectory | undefined>;
  addScored(trajectory: ScoredTrajectory, taskIndex: number): void;
  addUnscored(trajectory: Trajectory, taskIndex: number, reason: string): void;
}

/** How samples are drawn. */
export interface DrawOptions {
  readonly sampler: Sampler;
  readonly images: ModelImages;
  readonly seed: number;
  /** Samples in flight at a time. */
  readonly concurrency: number;
  /** Retries of a rollout, and of its scoring. */
  readonly retries: number;
  readonly onEvent: EventSink;
  readonly signal?: AbortSignal;
}

/** Samples that are missing after all retries. */
export interface Drawn {
  readonly drawn: number;
  readonly missing: number;
  /** Why, by the boundary that broke: the first message of each. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** Samples in a row that may fail before the rest is not tried. */
const FAILURES_IN_A_ROW = 32;

/** The score of the verifier, from 0 to 1, as the only term of the reward. */
const score: Reward = {
  name: 'score',
  scope: 'trajectory',
  paper: 'the verifier of the suite',
  range: [0, 1],
  score: (_, { verdictScore }) => verdictScore,
};

/**
 * Draws what is missing, task by task. A sample depends on seed, suite, task and its index alone: not
 * on what is there already, nor on timing.
 *
 * @throws DataError if samples keep failing, or cannot be kept; those that are there stay
 * @throws the signal's reason if it is aborted
 */
export async function drawSamples(
  suite: OpenSuite,
  tasks: SuiteTasks,
  listed: readonly EvaluatedTask[],
  sink: SampleSink,
  options: DrawOptions,
): Promise<Drawn> {
  const run = new Drawing(suite, tasks, listed, sink, options);
  const workers = Array.from({ length: Math.min(options.concurrency, run.left) }, () => run.work());
  await Promise.allSettled(workers);
  run.release();
  return run.result();
}

interface Job {
  readonly listed: EvaluatedTask;
  readonly sampleIndex: number;
}

class Drawing {
  readonly #suite: OpenSuite;
  readonly #tasks: SuiteTasks;
  readonly #sink: SampleSink;
  readonly #options: DrawOptions;
  readonly #jobs: readonly Job[];
  readonly #total: number;
  /** Jobs of each task that have not ended. */
  readonly #open = new Map<string, number>();
  readonly #reasons: Record<string, string> = {};
  #next = 0;
  #done: number;
  #missing = 0;
  #inARow = 0;
  /** What stopped all workers, the first of it. */
  #stopped: { readonly reason: unknown } | undefined;

  constructor(
    suite: OpenSuite,
    tasks: SuiteTasks,
    listed: readonly EvaluatedTask[],
    sink: SampleSink,
    options: DrawOptions,
  ) {
    this.#suite = suite;
    this.#tasks = tasks;
    this.#sink = sink;
    this.#options = options;
    this.#jobs = listed.flatMap((task) =>
      Array.from({ length: suite.k }, (_, sampleIndex) => ({ listed: task, sampleIndex })).filter(
        ({ sampleIndex }) => !sink.has(task.id, sampleIndex),
      ),
    );
    for (const { listed: task } of this.#jobs) {
      this.#open.set(task.id, (this.#open.get(task.id) ?? 0) + 1);
    }
    this.#total = listed.length * suite.k;
    this.#done = this.#total - this.#jobs.length;
    this.#tell();
  }

  get left(): number {
    return this.#jobs.length;
  }

  /** @throws what stopped it first */
  result(): Drawn {
    if (this.#stopped !== undefined) throw this.#stopped.reason;
    return {
      drawn: this.#jobs.length - this.#missing,
      missing: this.#missing,
      reasons: this.#reasons,
    };
  }

  async work(): Promise<void> {
    try {
      while (this.#stopped === undefined) {
        const job = this.#jobs[this.#next++];
        if (job === undefined) return;
        try {
          await this.#complete(job);
        } finally {
          this.#end(job);
        }
        this.#done++;
        this.#tell();
      }
    } catch (reason) {
      this.#stopped ??= { reason };
    }
  }

  /** Lets the policy forget prompts of tasks that were stopped half-way. */
  release(): void {
    for (const [taskId, open] of this.#open) {
      if (open > 0) this.#options.sampler.release(this.#prefixOf(taskId));
    }
  }

  async #complete({ listed, sampleIndex }: Job): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const task = await this.#tasks.task(listed.index);
    const rolledOut =
      (await this.#sink.unscored(listed.id, sampleIndex)) ??
      (await this.#rollOut(task, sampleIndex));
    if (rolledOut.failure !== undefined) {
      const { boundary, message } = rolledOut.failure;
      this.#fail(boundary, message);
      return;
    }
    const { scoring, judges } = this.#suite;
    const [result] = await scoreRollouts(
      {
        scoring: { ...scoring, terms: [{ reward: score, weight: 1 }] },
        ...(judges && { judges }),
        retries: this.#options.retries,
      },
      [{ taskId: task.id, trajectories: [rolledOut] }],
      [task],
    );
    const [scored] = result?.scored.trajectories ?? [];
    if (scored === undefined) {
      const { message = 'no reason given' } = result?.failed[0]?.failure ?? {};
      this.#sink.addUnscored(rolledOut, listed.index, message);
      this.#fail('scoring', message);
      return;
    }
    this.#sink.addScored(scored, listed.index);
    this.#inARow = 0;
  }

  async #rollOut(task: Task, sampleIndex: number): Promise<Trajectory> {
    const { sampler, images, seed, retries, onEvent, signal } = this.#options;
    const { name, sampling, deadlineSeconds, makeEnv, k } = this.#suite;
    const { temperature, topK, topP, minP, maxTurnTokens, maxContextTokens } = sampling;
    const { trajectory } = await rolloutWithRetries(sampler, makeEnv, task, {
      ...{ seed, sampleIndex, images, retries, temperature, topK, topP, minP },
      stream: `suite/${name}`,
      maxTokensPerTurn: maxTurnTokens,
      maxContextTokens,
      // Progress of a single trajectory is nobody's business; warnings are.
      events: (event) => event.kind === 'warning' && onEvent(event),
      ...(k > 1 && { sharedPrefixKey: this.#prefixOf(task.id) }),
      ...(deadlineSeconds !== undefined && { deadlineSeconds }),
      ...(signal && { signal }),
    });
    return trajectory;
  }

  #fail(boundary: string, message: string): void {
    this.#missing++;
    this.#inARow++;
    this.#reasons[boundary] ??= message;
    const most = Math.min(FAILURES_IN_A_ROW, this.#jobs.length);
    if (this.#inARow < most || this.#jobs.length === 1) return;
    throw new DataError(
      `The last ${this.#inARow} samples of the suite ${this.#suite.name} failed (${boundary}: ` +
        `${message.replace(/\.$/, '')}). Put that right and run the same command again: what was ` +
        'drawn before is kept.',
    );
  }

  #end({ listed }: Job): void {
    const open = (this.#open.get(listed.id) ?? 0) - 1;
    this.#open.set(listed.id, open);
    if (open === 0 && this.#suite.k > 1) this.#options.sampler.release(this.#prefixOf(listed.id));
  }

  #prefixOf(taskId: string): string {
    return `suite/${this.#suite.name}/${taskId}/prompt`;
  }

  #tell(): void {
    const { onEvent } = this.#options;
    const stage = `suite ${this.#suite.name}`;
    onEvent({ kind: 'progress', stage, done: this.#done, total: this.#total });
  }
}

/** The key under which sinks keep samples. */
export const keyOf = ({ taskId, sampleIndex }: Trajectory): string =>
  sampleKey(taskId, sampleIndex);
