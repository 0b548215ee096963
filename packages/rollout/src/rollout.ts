/** One policy, one environment, one trajectory. */
import { ConfigError } from '@saccade/core';
import type { Env, Task } from '@saccade/gym';
import type { Sampler } from '@saccade/policy';
import type { Trajectory } from '@saccade/trajectory';
import { OpenRollout } from './open-rollout.ts';
import type { RolloutOptions, SamplingOptions } from './rollout-options.ts';

/**
 * Rolls out one trajectory: the prompt, then model turn and observation until the environment ends
 * it or the context is full. An observation that would not leave room for one more token is not
 * appended, so the last token is never an observation's; a turn that is cut off is still read by
 * the environment, and ends the trajectory as `lengthLimit` if nothing could be read from it.
 *
 * A failure of sampling, sandbox or environment is not thrown: the trajectory ends as `failed` and
 * names the boundary. The caller disposes of the environment.
 *
 * @throws the signal's reason if it is aborted
 */
export async function rollout(
  policy: Sampler,
  env: Env,
  task: Task,
  options: RolloutOptions,
): Promise<Trajectory> {
  checkBudgets(options);
  const open = new OpenRollout(policy, env, task, options);
  try {
    for (;;) {
      const trajectory = await open.turn();
      if (trajectory !== undefined) return trajectory;
    }
  } finally {
    open.release();
  }
}

/** @throws ConfigError unless the budgets are whole numbers of at least 1 */
export function checkBudgets(options: SamplingOptions): void {
  for (const field of ['maxTokensPerTurn', 'maxContextTokens'] as const) {
    if (Number.isInteger(options[field]) && options[field] >= 1) continue;
    throw new ConfigError(
      `rollout.${field}`,
      `${field} must be a whole number of at least 1, is ${options[field]}.`,
    );
  }
}
