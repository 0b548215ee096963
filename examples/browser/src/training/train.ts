/** A whole run on any device: the parts, the cold start, reinforcement learning. */
import type { Device } from '@saccade/ops';
import type { LocalPolicy } from '@saccade/policy';
import { coldStart } from './cold-start.ts';
import { makeParts, type Settings } from './parts.ts';
import { reinforce } from './reinforce.ts';
import type { Run } from './run.ts';

export interface TrainOptions extends Pick<Run, 'onEvent' | 'pass'> {
  /** The policy stands; it is disposed of when the run is over. */
  readonly onPolicy?: (policy: LocalPolicy) => void;
  /** Weights of a cold start that was made before, in the place of one. */
  readonly weights?: ArrayBuffer;
  /** Called when the policy has had its cold start, before it learns by reinforcement. */
  readonly onColdStart?: () => Promise<void>;
}

/**
 * Trains a policy with random weights or those of a cold start; what comes of it is told by events. The device stays the caller's.
 *
 * @throws ConfigError for an unknown algorithm; DataError for weights of another policy; what the
 *   device throws
 */
export async function train(
  device: Device,
  settings: Settings,
  options: TrainOptions,
): Promise<void> {
  const parts = makeParts(device, settings, options.weights);
  try {
    options.onPolicy?.(parts.policy);
    const run: Run = { ...options, settings, parts };
    if (options.weights === undefined) await coldStart(run);
    await options.onColdStart?.();
    await reinforce(run);
  } finally {
    parts.policy.dispose();
  }
}
