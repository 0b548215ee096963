/** Rewards that shape the length of trajectories. */
import { ConfigError } from '@saccade/core';

export interface OverlongOptions {
  /** Most tokens a trajectory may have. */
  readonly maxTokens: number;
  /** Over how many tokens before that the penalty grows. */
  readonly bufferTokens: number;
  /** The penalty at maxTokens is minus this. Default 1. */
  readonly factor?: number;
  /** Whether the penalty stays there beyond maxTokens, or goes on growing. Default true. */
  readonly isCapped?: boolean;
}

/**
 * Penalty that grows linearly towards the most tokens a trajectory may have; to be added to its
 * reward.
 *
 *   x = (tokenCount − (maxTokens − bufferTokens)) / bufferTokens
 *   penalty = −factor·clip(x, 0, 1);   not capped:  −factor·max(x, 0)
 *
 * DAPO, arXiv:2503.14476, eq. 13 (soft overlong punishment), which TRL follows; verl's DAPO reward
 * manager is not capped.
 *
 * @returns of a number of tokens, 0 or less
 * @throws ConfigError if the buffer is not above 0 or larger than maxTokens
 */
export function overlongPenalty(options: OverlongOptions): (tokenCount: number) => number {
  const { maxTokens, bufferTokens, factor = 1, isCapped = true } = options;
  if (!(bufferTokens > 0 && bufferTokens <= maxTokens)) {
    throw new ConfigError(
      'bufferTokens',
      `bufferTokens must be above 0 and at most maxTokens (${maxTokens}), is ${bufferTokens}.`,
    );
  }
  return (tokenCount) => {
    const excess = Math.max((tokenCount - (maxTokens - bufferTokens)) / bufferTokens, 0);
    // `+ 0` makes −0 a plain 0.
    return -factor * (isCapped ? Math.min(excess, 1) : excess) + 0;
  };
}
