/** Many trajectories at a time: bounded concurrency, retries, cancellation, groups in order. */
import { ConfigError, type EventSink } from '@saccade/core';
import type { Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import type { Failure, Group, Trajectory } from '@saccade/trajectory';
import { ModelImages } from './model-images.ts';
import { checkBudgets } from './rollout.ts';
import type { SamplingOptions } from './rollout-options.ts';
import { type MakeEnv, rolloutWithRetries } from './rollout-with-retries.ts';
import { checkRetries, type RetryBudgets } from './tries.ts';

/** Options of `rolloutGroup`: how a group is sampled, retried and stopped. */
export interface GroupOptions extends SamplingOptions {
  /** G: trajectories per task. */
  readonly groupSize: number;
  /** Whether every group also has a `baseline`: one more trajectory, at temperature 0. Default false. */
  readonly greedyBaseline?: boolean;
  /** Whether a group's prompt is computed once in the policy. Default true. */
  readonly sharedPrefix?: boolean;
  /**
   * Retries of a trajectory after failures, with the same random address: one number for all
   * boundaries together, or a budget per boundary (0 for those not named). Default 2.
   */
  readonly retries?: number | RetryBudgets;
  /** Seconds a trajectory may take with all its retries; then it fails. Default: no limit. */
  readonly deadlineSeconds?: number;
  /** A signal that stops a single trajectory: it ends as failed and is not retried. */
  readonly stopOf?: (taskId: string, sampleIndex: number) => AbortSignal | undefined;
  /** Receives progress, and warnings about environments that could not be disposed. */
  readonly events?: EventSink;
}

/** Options of `runRollouts`. */
export interface RunOptions extends GroupOptions {
  /** Trajectories in flight at a time. Default 128. */
  readonly concurrency?: number;
}

/**
 * The result of `runRollouts`: every trajectory, failed ones included, with counts of what went
 * wrong.
 */
export interface RunResult {
  /** One group per task, in the order of the tasks; each has all its G trajectories, and its baseline. */
  readonly groups: readonly Group[];
  /** Retries, over all trajectories. */
  readonly retries: number;
  /** Trajectories that stayed failed after all retries, by boundary. */
  readonly failures: Readonly<Partial<Record<Failure['boundary'], number>>>;
  /** How many of those failures passed their deadline, and how many were cancelled. */
  readonly stopped: { readonly deadline: number; readonly cancelled: number };
}

/** One trajectory to roll out. */
interface Job {
  readonly task: Task;
  readonly taskIndex: number;
  readonly sampleIndex: number;
  readonly isBaseline: boolean;
  /** Distinguishes two occurrences of one task in a call. */
  readonly stream: string;
  readonly sharedPrefixKey: string;
}

/**
 * Rolls out a group of every task. The result does not depend on timing or on `concurrency`: the
 * random address of a token consists of seed, stream, task, sample and turn.
 *
 * @throws ConfigError for a number out of range
 * @throws the signal's reason if it is aborted, after all trajectories in flight have ended
 */
export async function runRollouts(
  policy: Sampler,
  makeEnv: MakeEnv,
  tasks: readonly Task[],
  options: RunOptions,
): Promise<RunResult> {
  const { groupSize, concurrency = 128, retries = 2 } = options;
  checkBudgets(options);
  expectWhole('groupSize', groupSize, 1);
  expectWhole('concurrency', concurrency, 1);
  checkRetries(retries);
  const { deadlineSeconds = 1 } = options;
  if (!(deadlineSeconds > 0)) {
    throw new ConfigError(
      'rollout.deadlineSeconds',
      `deadlineSeconds must be above 0, is ${deadlineSeconds}. Leave it out for no limit.`,
    );
  }
  const run = new GroupRun(policy, makeEnv, tasks, options);
  const workers = Array.from({ length: Math.min(concurrency, run.total) }, () => run.work());
  const ended = await Promise.allSettled(workers);
  run.releasePrompts();
  for (const worker of ended) if (worker.status === 'rejected') throw worker.reason;
  return run.result();
}

/** Rolls out the group of one task, all its trajectories at a time. */
export async function rolloutGroup(
  policy: Sampler,
  makeEnv: MakeEnv,
  task: Task,
  options: GroupOptions,
): Promise<Group> {
  const { groups } = await runRollouts(policy, makeEnv, [task], {
    ...options,
    concurrency: rolloutsPerTask(options),
  });
  const [group] = groups;
  return group ?? { taskId: task.id, trajectories: [] };
}

class GroupRun {
  readonly total: number;
  readonly #policy: Sampler;
  readonly #makeEnv: MakeEnv;
  readonly #tasks: readonly Task[];
  readonly #options: RunOptions;
  readonly #images: ModelImages;
  readonly #jobs: readonly Job[];
  readonly #trajectories: Trajectory[][];
  /** The baseline of each task that has one. */
  readonly #baselines: (Trajectory | undefined)[];
  /** Trajectories of each task that have not ended. */
  readonly #open: number[];
  readonly #failures: Partial<Record<Failure['boundary'], number>> = {};
  readonly #stopped = { deadline: 0, cancelled: 0 };
  #next = 0;
  #done = 0;
  #retries = 0;
  #isStopped = false;

  constructor(policy: Sampler, makeEnv: MakeEnv, tasks: readonly Task[], options: RunOptions) {
    this.#policy = policy;
    this.#makeEnv = makeEnv;
    this.#tasks = tasks;
    this.#options = options;
    this.#images = options.images ?? new ModelImages(policy.processor);
    this.#jobs = jobsOf(tasks, options);
    this.#trajectories = tasks.map(() => []);
    this.#baselines = tasks.map(() => undefined);
    this.#open = tasks.map(() => rolloutsPerTask(options));
    this.total = this.#jobs.length;
  }

  /** Takes jobs in order until none is left or something stops the run. */
  async work(): Promise<void> {
    try {
      while (!this.#isStopped) {
        const job = this.#jobs[this.#next++];
        if (job === undefined) return;
        await this.#complete(job);
      }
    } catch (error) {
      this.#isStopped = true;
      throw error;
    }
  }

  result(): RunResult {
    const groups = this.#tasks.map((task, index) => {
      const baseline = this.#baselines[index];
      const trajectories = this.#trajectories[index] ?? [];
      return { taskId: task.id, trajectories, ...(baseline && { baseline }) };
    });
    const stopped = { ...this.#stopped };
    return { groups, retries: this.#retries, failures: this.#failures, stopped };
  }

  /** Lets the policy forget the prompts of groups that were stopped half-way. */
  releasePrompts(): void {
    for (const { taskIndex, sampleIndex, sharedPrefixKey } of this.#jobs) {
      if (sampleIndex > 0 || this.#open[taskIndex] === 0 || !this.#isShared()) continue;
      this.#policy.release(sharedPrefixKey);
    }
  }

  async #complete(job: Job): Promise<void> {
    try {
      const trajectory = await this.#runWithRetries(job);
      const { boundary, cause } = trajectory.failure ?? {};
      if (cause === 'deadline' || cause === 'cancelled') this.#stopped[cause]++;
      if (boundary) this.#failures[boundary] = (this.#failures[boundary] ?? 0) + 1;
      const group = this.#trajectories[job.taskIndex];
      if (job.isBaseline) this.#baselines[job.taskIndex] = trajectory;
      else if (group) group[job.sampleIndex] = trajectory;
    } finally {
      const open = (this.#open[job.taskIndex] ?? 0) - 1;
      this.#open[job.taskIndex] = open;
      if (open === 0 && this.#isShared()) this.#policy.release(job.sharedPrefixKey);
    }
    this.#done++;
    const { events } = this.#options;
    events?.({ kind: 'progress', stage: 'rollout', done: this.#done, total: this.total });
  }

  async #runWithRetries({
    task,
    stream,
    sampleIndex,
    isBaseline,
    sharedPrefixKey,
  }: Job): Promise<Trajectory> {
    const cancel = this.#options.stopOf?.(task.id, sampleIndex);
    const { trajectory, retries } = await rolloutWithRetries(this.#policy, this.#makeEnv, task, {
      ...this.#options,
      stream,
      sampleIndex,
      isBaseline,
      images: this.#images,
      ...(cancel !== undefined && { cancel }),
      ...(this.#isShared() && { sharedPrefixKey }),
    });
    this.#retries += retries;
    return trajectory;
  }

  #isShared(): boolean {
    return (this.#options.sharedPrefix ?? true) && rolloutsPerTask(this.#options) > 1;
  }
}

function jobsOf(tasks: readonly Task[], options: RunOptions): readonly Job[] {
  const { groupSize, stream = '' } = options;
  const seen = new Map<string, number>();
  return tasks.flatMap((task, taskIndex) => {
    const earlier = seen.get(task.id) ?? 0;
    seen.set(task.id, earlier + 1);
    const own = earlier === 0 ? stream : `${stream}~${earlier}`;
    return Array.from({ length: rolloutsPerTask(options) }, (_, sampleIndex) => ({
      task,
      taskIndex,
      sampleIndex,
      isBaseline: sampleIndex === groupSize,
      stream: own,
      sharedPrefixKey: `${own}/${task.id}/prompt`,
    }));
  });
}

/** G, and the baseline where there is one. */
function rolloutsPerTask({ groupSize, greedyBaseline = false }: GroupOptions): number {
  return groupSize + (greedyBaseline ? 1 : 0);
}

function expectWhole(field: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new ConfigError(
    `rollout.${field}`,
    `${field} must be a whole number of at least ${least}, is ${value}.`,
  );
}
