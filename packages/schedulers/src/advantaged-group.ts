/** A scored group with its advantages, fixed while it is whole. */
import { isUniform, ShapeError } from '@saccade/core';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { ScoredGroup } from './scheduler.ts';

/**
 * A scored group with its advantages. They are computed once, on the whole group, so that dropping
 * trajectories later does not change them.
 */
export interface AdvantagedGroup {
  readonly taskId: string;
  readonly trajectories: readonly ScoredTrajectory[];
  /** [G] one per trajectory. */
  readonly advantages: Float64Array;
  /** Population standard deviation of the rewards. */
  readonly std: number;
}

/** The group with advantages of all its trajectories. */
export function withAdvantages(
  group: ScoredGroup,
  advantages: (group: ScoredGroup) => Float64Array,
): AdvantagedGroup {
  const rewards = Float64Array.from(group.trajectories, (trajectory) => trajectory.reward);
  const values = advantages(group);
  if (values.length !== rewards.length) {
    throw new ShapeError(
      `advantages() gave ${values.length} values for a group of ${rewards.length}. Give one each.`,
    );
  }
  const { taskId, trajectories } = group;
  return { taskId, trajectories, advantages: values, std: populationStd(rewards) };
}

/**
 * Population standard deviation, exactly 0 where the values differ only by rounding noise.
 *
 *   σ = sqrt(mean((R − mean(R))²))
 *
 * `isUniform` of `@saccade/core` defines rounding noise, here and in the advantages.
 */
export function populationStd(values: Float64Array): number {
  const first = values[0];
  if (first === undefined || isUniform(values)) return 0;
  let excess = 0;
  for (const value of values) excess += value - first;
  const mean = first + excess / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return Math.sqrt(squares / values.length);
}
