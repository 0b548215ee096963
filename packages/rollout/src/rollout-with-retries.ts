/** One trajectory with its retries: an environment of its own for each try, and a deadline for all. */

import type { EventSink } from '@saccade/core';
import { messageOf } from '@saccade/core';
import type { Env, Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import { type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { failureOf, Stopped } from './failures.ts';
import { rolloutId } from './open-rollout.ts';
import { rollout } from './rollout.ts';
import type { RolloutOptions } from './rollout-options.ts';
import { type RetryBudgets, Tries } from './tries.ts';

/** Makes a fresh environment for one trajectory. */
export type MakeEnv = () => Env | Promise<Env>;

/** Options of `rolloutWithRetries`. */
export interface RetriedOptions extends Omit<RolloutOptions, 'stop'> {
  /**
   * Retries after failures, with the same random address: one number for all boundaries together, or
   * a budget per boundary (0 for those not named). Default 2.
   */
  readonly retries?: number | RetryBudgets;
  /** Seconds it may take with all its retries; then it fails. Default: no limit. */
  readonly deadlineSeconds?: number;
  /** Ends it alone: it fails as cancelled, and is not retried. */
  readonly cancel?: AbortSignal;
  /** Receives warnings about environments that could not be disposed. */
  readonly events?: EventSink;
}

/** A trajectory, failed or not, and how often it was retried. */
export interface RetriedRollout {
  readonly trajectory: Trajectory;
  readonly retries: number;
}

/**
 * Rolls out one trajectory, again after each failure while retries are left.
 *
 * @throws the signal's reason if it is aborted
 */
export async function rolloutWithRetries(
  policy: Sampler,
  makeEnv: MakeEnv,
  task: Task,
  options: RetriedOptions,
): Promise<RetriedRollout> {
  const tries = new Tries(options.retries);
  const stop = stopFor(options);
  let retries = 0;
  try {
    for (;;) {
      const trajectory = await tryOnce(policy, makeEnv, task, options, stop?.signal);
      const { failure } = trajectory;
      if (failure === undefined || !tries.take(failure)) return { trajectory, retries };
      retries++;
    }
  } finally {
    stop?.release();
  }
}

async function tryOnce(
  policy: Sampler,
  makeEnv: MakeEnv,
  task: Task,
  options: RetriedOptions,
  stop: AbortSignal | undefined,
): Promise<Trajectory> {
  const { signal, stream = '', sampleIndex = 0, isBaseline = false } = options;
  signal?.throwIfAborted();
  let env: Env;
  try {
    env = await makeEnv();
  } catch (error) {
    signal?.throwIfAborted();
    const id = rolloutId(task, { stream, sampleIndex });
    const builder = new TrajectoryBuilder({ id, taskId: task.id, sampleIndex, isBaseline });
    return builder.fail(failureOf(error, 'env'));
  }
  try {
    return await rollout(policy, env, task, { ...options, ...(stop !== undefined && { stop }) });
  } finally {
    await env.dispose().catch((error: unknown) => {
      const message = `An environment could not be disposed: ${messageOf(error)}`;
      options.events?.({ kind: 'warning', message });
    });
  }
}

/**
 * The signal that stops one trajectory, by its deadline or a cancellation; undefined without
 * either.
 */
function stopFor({
  deadlineSeconds,
  cancel: cancelled,
}: Pick<RetriedOptions, 'deadlineSeconds' | 'cancel'>):
  | { readonly signal: AbortSignal; release(): void }
  | undefined {
  if (deadlineSeconds === undefined && cancelled === undefined) return undefined;
  const controller = new AbortController();
  const cancel = (): void => controller.abort(new Stopped('cancelled', 'It was cancelled.'));
  if (cancelled?.aborted) cancel();
  cancelled?.addEventListener('abort', cancel, { once: true });
  const message = `Its deadline of ${deadlineSeconds} s passed.`;
  const expire = (): void => controller.abort(new Stopped('deadline', message));
  const timer =
    deadlineSeconds === undefined ? undefined : setTimeout(expire, 1000 * deadlineSeconds);
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      cancelled?.removeEventListener('abort', cancel);
    },
  };
}
