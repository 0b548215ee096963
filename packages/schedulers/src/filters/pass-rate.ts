/** How often a task is solved, and which tasks that makes worth training on. */
import { ConfigError } from '@saccade/core';
import type { DropReason, ScoredGroup } from '../scheduler.ts';

/** Pass rates that are trained on, both ends included. */
export interface PassRateWindow {
  readonly lowest: number;
  readonly highest: number;
}

/**
 * Share of a group's trajectories that are right, in [0, 1].
 *
 *   p = #{i : isCorrect_i} / #{i}
 */
export function passRate({ trajectories }: Pick<ScoredGroup, 'trajectories'>): number {
  const right = trajectories.filter(({ isCorrect }) => isCorrect).length;
  return trajectories.length === 0 ? 0 : right / trajectories.length;
}

/** Why a task of this pass rate is not trained on; 0 and 1 never are, as they teach nothing. */
export function outside(rate: number, { lowest, highest }: PassRateWindow): DropReason | undefined {
  if (rate <= 0 || rate < lowest) return 'tooHard';
  return rate >= 1 || rate > highest ? 'tooEasy' : undefined;
}

/** @throws ConfigError unless 0 ≤ lowest ≤ highest ≤ 1 */
export function expectWindow({ lowest, highest }: PassRateWindow): void {
  if (lowest >= 0 && lowest <= highest && highest <= 1) return;
  throw new ConfigError(
    'scheduler.lowest',
    `The window of pass rates must lie in [0, 1], is [${lowest}, ${highest}].`,
  );
}
