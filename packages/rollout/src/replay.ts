/** Rolls a recorded trajectory out again and says whether it came out the same. */
import { DataError } from '@saccade/core';
import type { Env, Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import type { Trajectory } from '@saccade/trajectory';
import { type Comparison, compareTrajectories } from './compare-trajectories.ts';
import {
  type RecordedSamplerOptions,
  recordedEnv,
  recordedSampler,
  recordedTask,
} from './recorded-env.ts';
import { rollout } from './rollout.ts';
import type { SamplingOptions } from './rollout-options.ts';

/**
 * Options of `replay`: those of the recorded rollout, except the stream, which is read from its
 * id.
 */
export interface ReplayOptions
  extends Omit<SamplingOptions, 'stream'>,
    Pick<RecordedSamplerOptions, 'beforeTurn'> {
  /** Stop strings of the protocol; not read where the trajectory is replayed live. */
  readonly stop: readonly string[];
  /** Acts in this environment instead of the record; the caller disposes of it. */
  readonly live?: { readonly env: Env; readonly task: Task };
}

/** The result of `replay`: the new trajectory and how it differs from the recorded one. */
export interface Replayed extends Comparison {
  readonly trajectory: Trajectory;
  /** Same tokens, log-probs bit for bit, images, actions, results and end. */
  readonly isExact: boolean;
}

/** The stream of a rollout: the part of its id before task and sample. */
export function streamOf({ id, taskId, sampleIndex }: Trajectory): string {
  const end = `${taskId}/${sampleIndex}`;
  if (id === end) return '';
  if (id.endsWith(`/${end}`)) return id.slice(0, -end.length - 1);
  throw new DataError(
    `Trajectory ${id} is not named after its task ${taskId} and sample ${sampleIndex}, so where it ` +
      'drew its random numbers is not known. Only what `rollout` named can be replayed.',
  );
}

/**
 * Rolls a trajectory out again as it was: the recorded prompt, the same random numbers, and after
 * every turn the recorded tool result and images. With the weights it was sampled with and the
 * options it was rolled out with, every token and log-prob is the same.
 *
 * @throws DataError if the trajectory was not named by `rollout`, or has no turn to sample
 * @throws ConfigError for a budget out of range; the signal's reason if it is aborted
 */
export async function replay(
  policy: Sampler,
  recorded: Trajectory,
  options: ReplayOptions,
): Promise<Replayed> {
  const { stop, live, beforeTurn, ...sampling } = options;
  if (recorded.segments.length < 2) {
    const why = recorded.failure?.message ?? `it ended as ${recorded.stopReason}`;
    throw new DataError(`Trajectory ${recorded.id} has no turn to replay: ${why}.`);
  }
  const sampler = recordedSampler(policy, recorded, {
    givesTokens: live === undefined,
    ...(beforeTurn && { beforeTurn }),
  });
  const env = live?.env ?? recordedEnv(recorded, { stop });
  const { isBaseline = false } = recorded;
  const trajectory = await rollout(sampler, env, live?.task ?? recordedTask(recorded), {
    ...sampling,
    isBaseline,
    stream: streamOf(recorded),
    sampleIndex: recorded.sampleIndex,
  });
  const comparison = compareTrajectories(recorded, trajectory);
  return { ...comparison, trajectory, isExact: comparison.differences.length === 0 };
}
