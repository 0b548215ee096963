/** Adds rewards to trajectories: a weighted sum whose terms are kept by name. */
import { ConfigError, messageOf, SaccadeError } from '@saccade/core';
import type { Group, ScoredTrajectory, Trajectory } from '@saccade/trajectory';
import type { Reward, RewardContext, Verifier } from './reward.ts';
import { judge, type VerdictOptions } from './verdict.ts';

/** A reward and what it weighs in the sum. */
export interface RewardTerm {
  readonly reward: Reward;
  readonly weight: number;
}

/** How trajectories are scored. */
export interface Scoring {
  readonly verifier: Verifier;
  readonly terms: readonly RewardTerm[];
  readonly verdict?: VerdictOptions;
}

/** What scoring needs of a task. */
export interface ScoringTask {
  readonly answer: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A group after scoring. Nothing in `failed` has a reward: errors are not rewards. */
export interface ScoredGroupResult {
  readonly scored: Group<ScoredTrajectory>;
  /** Trajectories that had failed, or whose reward failed now. */
  readonly failed: readonly Trajectory[];
}

/** Scoring broke: a verifier or a reward threw, or gave no finite number. */
export class RewardError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('reward', message, options);
  }
}

/**
 * A trajectory with its reward.
 *
 *   R = Σ weight_i · reward_i(trajectory)
 *
 * @throws ConfigError if two terms have one name
 * @throws RewardError if the verifier or a reward breaks, or the trajectory has failed
 */
export function scoreTrajectory(
  trajectory: Trajectory,
  task: ScoringTask,
  scoring: Scoring,
): ScoredTrajectory {
  checkNames(scoring.terms);
  if (trajectory.stopReason === 'failed') {
    throw new RewardError(
      `Trajectory ${trajectory.id} failed (${trajectory.failure?.message}) and cannot be scored. ` +
        'Roll it out again or leave it out.',
    );
  }
  const { isCorrect } = guarded(scoring.verifier.name, trajectory, () =>
    judge(trajectory, task.answer, scoring.verifier, scoring.verdict),
  );
  const context: RewardContext = { answer: task.answer, metadata: task.metadata, isCorrect };
  const rewardTerms: Record<string, number> = {};
  let sum = 0;
  for (const { reward, weight } of scoring.terms) {
    const value = guarded(reward.name, trajectory, () => reward.score(trajectory, context));
    if (!Number.isFinite(value)) {
      throw new RewardError(`${reward.name} gave ${value} for trajectory ${trajectory.id}.`);
    }
    const term = weight * value;
    rewardTerms[reward.name] = term;
    sum += term;
  }
  return { ...trajectory, reward: sum, rewardTerms, isCorrect };
}

/**
 * A group with its rewards. A trajectory whose scoring breaks becomes a failure of the boundary
 * `reward`; those that had failed before stay what they are. Neither is scored.
 */
export function scoreGroup(group: Group, task: ScoringTask, scoring: Scoring): ScoredGroupResult {
  const trajectories: ScoredTrajectory[] = [];
  const failed: Trajectory[] = [];
  for (const trajectory of group.trajectories) {
    if (trajectory.stopReason === 'failed') {
      failed.push(trajectory);
      continue;
    }
    try {
      trajectories.push(scoreTrajectory(trajectory, task, scoring));
    } catch (error) {
      if (!(error instanceof RewardError)) throw error;
      const { answer: _, ...rest } = trajectory;
      const failure = { boundary: 'reward', message: error.message } as const;
      failed.push({ ...rest, stopReason: 'failed', failure });
    }
  }
  return { scored: { taskId: group.taskId, trajectories }, failed };
}

function guarded<Value>(name: string, trajectory: Trajectory, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw new RewardError(`${name} broke on trajectory ${trajectory.id}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function checkNames(terms: readonly RewardTerm[]): void {
  const names = new Set<string>();
  for (const { reward } of terms) {
    if (names.has(reward.name)) {
      throw new ConfigError(
        'reward.terms',
        `Two reward terms are called "${reward.name}". Give it one term with the sum of weights.`,
      );
    }
    names.add(reward.name);
  }
}
