/** Numbers about trajectories, as the page plots them. */
import { isToolUse, type ScoredTrajectory, type Trajectory } from '@saccade/trajectory';

export interface RolloutNumbers {
  readonly reward: number;
  /** Share of right answers. */
  readonly accuracy: number;
  /** Calls per trajectory, those that failed included. */
  readonly toolCalls: number;
  /** Calls that failed, per trajectory. */
  readonly failedCalls: number;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function rolloutNumbers(trajectories: readonly ScoredTrajectory[]): RolloutNumbers {
  const calls = trajectories.map(countCalls);
  const failed = trajectories.map(
    ({ turns }) => turns.filter(({ result }) => result?.kind === 'exception').length,
  );
  return {
    reward: mean(trajectories.map(({ reward }) => reward)),
    accuracy: mean(trajectories.map(({ isCorrect }) => (isCorrect ? 1 : 0))),
    toolCalls: mean(calls),
    failedCalls: mean(failed),
  };
}

function countCalls({ turns }: Trajectory): number {
  return turns.filter(({ action }) => isToolUse(action)).length;
}
