/** Adds rewards to trajectories: a weighted sum whose terms are kept by name. */
import { ConfigError, messageOf, SaccadeError } from '@saccade/core';
import {
  type Failure,
  type Group,
  isToolUse,
  type ScoredTrajectory,
  type Trajectory,
} from '@saccade/trajectory';
import { type ContextOptions, type Judged, makeContext, type ScoringTask } from './context.ts';
import type { AnyReward, GroupReward, RewardContext } from './reward.ts';

/** A reward and what it weighs in the sum. */
export interface RewardTerm {
  readonly reward: AnyReward;
  readonly weight: number;
}

/** How trajectories are scored. */
export interface Scoring extends ContextOptions {
  readonly terms: readonly RewardTerm[];
}

/** A group after scoring. Nothing in `failed` has a reward: errors are not rewards. */
export interface ScoredGroupResult {
  readonly scored: Group<ScoredTrajectory>;
  /** The context in which each was scored, in order; their code has been analyzed at most once. */
  readonly contexts: readonly RewardContext[];
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
 *   R = Σ weight_i · reward_i(trajectory);   turnRewards_k = Σ weight_j · turnReward_j(trajectory)_k
 *
 * @throws ConfigError if two terms have one name, or one needs the group: use `scoreGroup`
 * @throws RewardError if the verifier or a reward breaks, or the trajectory has failed
 */
export function scoreTrajectory(
  trajectory: Trajectory,
  task: ScoringTask,
  scoring: Scoring,
  judged?: Judged,
): ScoredTrajectory {
  checkNames(scoring.terms);
  const ofGroup = scoring.terms.find(({ reward }) => reward.scope === 'group');
  if (ofGroup !== undefined) {
    throw new ConfigError(
      'reward.terms',
      `"${ofGroup.reward.name}" compares the trajectories of a group. Score with scoreGroup.`,
    );
  }
  return finish(scoreAlone(trajectory, task, scoring, judged), scoring.terms, new Map());
}

/**
 * A group with its rewards. A trajectory whose scoring breaks becomes a failure of the boundary
 * `reward`; those that had failed before stay what they are. Neither is scored, nor seen by rewards
 * that compare the group.
 *
 * A baseline is scored like the others. Where rewards compare the group, it is compared with it, and
 * the group is not compared with its baseline. A group whose baseline fails, fails whole: without it
 * no advantage is known.
 *
 * @param judged what was found out before, by the trajectory's id, or why it could not be: then that
 *   trajectory fails
 */
export function scoreGroup(
  group: Group,
  task: ScoringTask,
  scoring: Scoring,
  judged: ReadonlyMap<string, Judged | RewardError> = new Map(),
): ScoredGroupResult {
  checkNames(scoring.terms);
  const { taskId } = group;
  const alone: Alone[] = [];
  const failed: Trajectory[] = [];
  const scoreOne = (trajectory: Trajectory): Alone | undefined => {
    if (trajectory.stopReason === 'failed') {
      failed.push(trajectory);
      return undefined;
    }
    try {
      const found = judged.get(trajectory.id);
      if (found instanceof RewardError) throw found;
      return scoreAlone(trajectory, task, scoring, found);
    } catch (error) {
      failed.push(asFailure(trajectory, error));
      return undefined;
    }
  };
  for (const trajectory of group.trajectories) {
    const own = scoreOne(trajectory);
    if (own !== undefined) alone.push(own);
  }
  const lose = (failureOf: (trajectory: Trajectory) => Trajectory): ScoredGroupResult => {
    const lost = alone.map(({ trajectory }) => failureOf(trajectory));
    return { scored: { taskId, trajectories: [] }, contexts: [], failed: [...failed, ...lost] };
  };
  const greedy = group.baseline && scoreOne(group.baseline);
  if (group.baseline !== undefined && greedy === undefined) {
    const { failure } = failed.at(-1) ?? {};
    return lose((trajectory) => withFailure(trajectory, baselineFailure(failure)));
  }
  try {
    const compared = compareGroup(taskId, alone, scoring.terms);
    const trajectories = alone.map((own, index) => finish(own, scoring.terms, at(compared, index)));
    const contexts = alone.map(({ context }) => context);
    if (greedy === undefined) return { scored: { taskId, trajectories }, contexts, failed };
    const beside = compareGroup(taskId, [...alone, greedy], scoring.terms);
    const baseline = finish(greedy, scoring.terms, at(beside, alone.length));
    return { scored: { taskId, trajectories, baseline }, contexts, failed };
  } catch (error) {
    return lose((trajectory) => asFailure(trajectory, error));
  }
}

/** The values of one trajectory. */
function at(
  compared: ReadonlyMap<string, readonly number[]>,
  index: number,
): ReadonlyMap<string, number> {
  return new Map([...compared].map(([name, all]) => [name, all[index] as number]));
}

function baselineFailure(failure: Failure | undefined): Failure {
  const { boundary = 'policy', message = 'unknown', cause } = failure ?? {};
  return {
    boundary,
    message: `The baseline of its group failed: ${message}`,
    ...(cause !== undefined && { cause }),
  };
}

/** A trajectory's own scores, before it is compared with its group. */
interface Alone {
  readonly trajectory: Trajectory;
  readonly context: RewardContext;
  readonly values: ReadonlyMap<string, number>;
  readonly turnRewards?: readonly number[];
}

function scoreAlone(
  trajectory: Trajectory,
  task: ScoringTask,
  scoring: Scoring,
  judged: Judged | undefined,
): Alone {
  if (trajectory.stopReason === 'failed') {
    throw new RewardError(
      `Trajectory ${trajectory.id} failed (${trajectory.failure?.message}) and cannot be scored. ` +
        'Roll it out again or leave it out.',
    );
  }
  const where = `trajectory ${trajectory.id}`;
  const context = guarded(scoring.verifier.name, where, () =>
    makeContext(trajectory, task, scoring, judged),
  );
  const values = new Map<string, number>();
  let turnRewards: number[] | undefined;
  for (const { reward, weight } of scoring.terms) {
    if (reward.scope === 'trajectory') {
      const value = guarded(reward.name, where, () => context.termValue(reward));
      values.set(reward.name, expectFinite(reward.name, where, value));
    } else if (reward.scope === 'turn') {
      const given = guarded(reward.name, where, () => reward.score(trajectory, context));
      const count = trajectory.turns.length;
      expectCount(reward.name, where, given.length, count, 'turns');
      turnRewards ??= Array.from({ length: count }, () => 0);
      for (const [turn, value] of given.entries()) {
        const sum = turnRewards[turn] as number;
        turnRewards[turn] = sum + weight * expectFinite(reward.name, where, value);
      }
    }
  }
  // The last entry is the answer's. A trajectory that ends in a tool call has none: without an entry for
  // it, advantages of turns would take the failing call for the answer and leave it out.
  const last = trajectory.turns.at(-1);
  if (last !== undefined && isToolUse(last.action)) turnRewards?.push(0);
  return { trajectory, context, values, ...(turnRewards && { turnRewards }) };
}

/** The values of the group's terms, one number per trajectory, by name. */
function compareGroup(
  taskId: string,
  alone: readonly Alone[],
  terms: readonly RewardTerm[],
): ReadonlyMap<string, readonly number[]> {
  const group = { taskId, trajectories: alone.map(({ trajectory }) => trajectory) };
  const contexts = alone.map(({ context }) => context);
  const where = `the group of task ${taskId}`;
  const ofGroup = terms.map(({ reward }) => reward).filter((reward) => reward.scope === 'group');
  return new Map(
    (ofGroup as readonly GroupReward[]).map((reward) => {
      const values = guarded(reward.name, where, () => reward.score(group, contexts));
      expectCount(reward.name, where, values.length, alone.length, 'trajectories');
      for (const value of values) expectFinite(reward.name, where, value);
      return [reward.name, values] as const;
    }),
  );
}

function finish(
  { trajectory, context, values, turnRewards }: Alone,
  terms: readonly RewardTerm[],
  compared: ReadonlyMap<string, number>,
): ScoredTrajectory {
  const rewardTerms: Record<string, number> = {};
  let sum = 0;
  for (const { reward, weight } of terms) {
    const value = values.get(reward.name) ?? compared.get(reward.name);
    if (value === undefined) continue;
    rewardTerms[reward.name] = weight * value;
    sum += weight * value;
  }
  const { isCorrect } = context;
  return {
    ...trajectory,
    reward: sum,
    rewardTerms,
    ...(turnRewards && { turnRewards }),
    isCorrect,
  };
}

function asFailure(trajectory: Trajectory, error: unknown): Trajectory {
  if (!(error instanceof RewardError)) throw error;
  return withFailure(trajectory, { boundary: 'reward', message: error.message });
}

function withFailure(trajectory: Trajectory, failure: Failure): Trajectory {
  const { answer: _, ...rest } = trajectory;
  return { ...rest, stopReason: 'failed', failure };
}

function guarded<Value>(name: string, where: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw new RewardError(`${name} broke on ${where}: ${messageOf(error)}`, { cause: error });
  }
}

function expectFinite(name: string, where: string, value: number): number {
  if (Number.isFinite(value)) return value;
  throw new RewardError(`${name} gave ${value} for ${where}.`);
}

function expectCount(name: string, where: string, got: number, count: number, of: string): void {
  if (got === count) return;
  throw new RewardError(`${name} gave ${got} numbers for the ${count} ${of} of ${where}.`);
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
