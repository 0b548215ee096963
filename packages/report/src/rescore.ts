/** Stored trajectories under another reward, without rolling anything out. */
import { ConfigError, DataError } from '@saccade/core';
import {
  type Audited,
  auditedGroup,
  type Judged,
  judge,
  pearson,
  presetNamed,
  type RewardTerm,
  scoreGroup,
  spearman,
  type Verifier,
} from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import type { StoredGroup, StoredRun } from './stored-run.ts';

interface RescoredTrajectory {
  /** Its file, without `.jsonl`. */
  readonly file: string;
  readonly id: string;
  readonly taskId: string;
  readonly wasCorrect: boolean;
  readonly isCorrect: boolean;
  readonly oldReward: number;
  readonly newReward: number;
  /** Weighted, by name. */
  readonly oldTerms: Readonly<Record<string, number>>;
  readonly newTerms: Readonly<Record<string, number>>;
  /** [turns] under the new reward, where it has any. */
  readonly newTurnRewards?: readonly number[];
}

/** Old and new of a file, or of all. */
export interface Comparison {
  readonly name: string;
  readonly count: number;
  readonly oldMean: number;
  readonly newMean: number;
  /** Correlation of the old and the new reward, −1 to 1; absent where one does not vary. */
  readonly correlation?: number;
  readonly rankCorrelation?: number;
  /**
   * Pairs within a group that both rewards order alike, of those that either of them orders;
   * absent without such a pair. Only this reaches algorithms that compare in groups.
   */
  readonly orderAgreement?: number;
  readonly groups: number;
  /** Groups whose rewards are all equal: they teach nothing. */
  readonly oldUniform: number;
  readonly newUniform: number;
}

/**
 * The result of `rescore`: every trajectory under the old and the new reward, and how the two
 * compare, per file and overall.
 */
export interface Rescored {
  readonly trajectories: readonly RescoredTrajectory[];
  readonly files: readonly Comparison[];
  readonly overall: Comparison;
  /** Means over all trajectories, by term. */
  readonly oldTerms: Readonly<Record<string, number>>;
  readonly newTerms: Readonly<Record<string, number>>;
  readonly oldGroups: readonly (readonly Audited[])[];
  readonly newGroups: readonly (readonly Audited[])[];
  /** Ids that the new reward could not be given to, with the reason. */
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
}

export interface RescoreOptions {
  readonly terms: readonly RewardTerm[];
  /** Judges answers again; default: the stored verdicts stand. */
  readonly verifier?: Verifier;
}

/**
 * Scores what a run has kept with other terms.
 *
 * @throws ConfigError if a term needs a judge
 * @throws DataError if answers are to be judged again, but the run kept none
 */
export function rescore({ sets }: StoredRun, options: RescoreOptions): Rescored {
  refuseJudged(options.terms);
  const parts = sets.map(({ name, groups }) => {
    if (options.verifier !== undefined) refuseUnanswered(name, groups);
    return { name, groups: groups.map((group) => rescoreGroup(name, group, options)) };
  });
  const all = parts.flatMap(({ groups }) => groups);
  const trajectories = all.flatMap(({ rescored }) => rescored);
  return {
    trajectories,
    files: parts.map(({ name, groups }) => compareRewards(name, groups)),
    overall: compareRewards('all', all),
    oldTerms: meansOf(trajectories.map(({ oldTerms }) => oldTerms)),
    newTerms: meansOf(trajectories.map(({ newTerms }) => newTerms)),
    oldGroups: all.map(({ before }) => before),
    newGroups: all.map(({ after }) => after),
    failed: all.flatMap(({ failed }) => failed),
  };
}

/** A loop without judges cannot give these terms anything, and neither can a file. */
function refuseJudged(terms: readonly RewardTerm[]): void {
  const judged = terms.find(
    ({ reward, weight }) => weight !== 0 && (reward.needs ?? []).length > 0,
  );
  if (judged === undefined) return;
  const { name, needs = [] } = judged.reward;
  throw new ConfigError(
    'reward',
    `"${name}" needs ${needs.join(', ')} of a judge, which stored trajectories do not have. ` +
      `Choose another preset, or leave the term out with --set ${name}=0.`,
  );
}

function refuseUnanswered(file: string, groups: readonly StoredGroup[]): void {
  const without = groups.find(({ task }) => task.answer === '');
  if (without === undefined) return;
  throw new DataError(
    `${file}.jsonl keeps no answer of task ${without.taskId}, so nothing can be judged again. ` +
      'Leave --verifier out: then the stored verdicts stand.',
  );
}

interface RescoredGroup {
  readonly rescored: readonly RescoredTrajectory[];
  readonly before: readonly Audited[];
  readonly after: readonly Audited[];
  readonly failed: Rescored['failed'];
}

function rescoreGroup(
  file: string,
  { taskId, task, trajectories }: StoredGroup,
  { terms, verifier }: RescoreOptions,
): RescoredGroup {
  const needed = terms.filter(({ reward, weight }) => weight !== 0 || !reward.needs?.length);
  const judged = new Map(trajectories.map((one) => [one.id, judgedAs(one, task.answer, verifier)]));
  const group = { taskId, trajectories: trajectories.map(unscored) };
  const scoring = { verifier: verifier ?? standing, terms: needed };
  const result = scoreGroup(group, task, scoring, judged);
  const after = auditedGroup(result);
  const before = new Map(trajectories.map((one) => [one.id, one]));
  const pairs = after.flatMap(({ trajectory, context }) => {
    const old = before.get(trajectory.id);
    return old === undefined ? [] : [{ old, trajectory, context }];
  });
  return {
    rescored: pairs.map(({ old, trajectory }) => ({
      file,
      id: old.id,
      taskId,
      wasCorrect: old.isCorrect,
      isCorrect: trajectory.isCorrect,
      oldReward: old.reward,
      newReward: trajectory.reward,
      oldTerms: old.rewardTerms,
      newTerms: trajectory.rewardTerms,
      ...(trajectory.turnRewards && { newTurnRewards: trajectory.turnRewards }),
    })),
    before: pairs.map(({ old, context }) => ({ trajectory: old, context })),
    after,
    failed: result.failed.map(({ id, failure }) => ({ id, reason: failure?.message ?? 'failed' })),
  };
}

/** Never asked: every trajectory brings its verdict. */
const standing: Verifier = { name: 'stored verdict', verify: () => 0 };

function judgedAs(
  trajectory: ScoredTrajectory,
  answer: string,
  verifier: Verifier | undefined,
): Judged {
  if (verifier !== undefined) return { verdict: judge(trajectory, answer, verifier) };
  const { isCorrect } = trajectory;
  return { verdict: { isCorrect, score: isCorrect ? 1 : 0 } };
}

function unscored(trajectory: ScoredTrajectory) {
  const { reward: _, rewardTerms: __, turnRewards: ___, isCorrect: ____, ...plain } = trajectory;
  return plain;
}

function compareRewards(
  name: string,
  groups: readonly Pick<RescoredGroup, 'rescored'>[],
): Comparison {
  const all = groups.flatMap(({ rescored }) => rescored);
  const olds = all.map(({ oldReward }) => oldReward);
  const news = all.map(({ newReward }) => newReward);
  const correlation = pearson(olds, news);
  const rankCorrelation = spearman(olds, news);
  const orderAgreement = agreementOf(groups);
  const uniform = (of: (one: RescoredTrajectory) => number): number =>
    groups.filter(({ rescored }) => new Set(rescored.map((one) => of(one).toFixed(9))).size < 2)
      .length;
  return {
    name,
    count: all.length,
    oldMean: average(olds),
    newMean: average(news),
    ...(correlation !== undefined && { correlation }),
    ...(rankCorrelation !== undefined && { rankCorrelation }),
    ...(orderAgreement !== undefined && { orderAgreement }),
    groups: groups.length,
    oldUniform: uniform(({ oldReward }) => oldReward),
    newUniform: uniform(({ newReward }) => newReward),
  };
}

function agreementOf(groups: readonly Pick<RescoredGroup, 'rescored'>[]): number | undefined {
  let [alike, ordered] = [0, 0];
  for (const { rescored } of groups) {
    rescored.forEach((a, index) => {
      for (const b of rescored.slice(index + 1)) {
        const before = orderOf(a.oldReward, b.oldReward);
        const after = orderOf(a.newReward, b.newReward);
        if (before === 0 && after === 0) continue;
        ordered++;
        if (before === after) alike++;
      }
    });
  }
  return ordered === 0 ? undefined : alike / ordered;
}

/** Equal sums of terms may differ by their rounding. */
function orderOf(a: number, b: number): number {
  return Math.abs(a - b) < 1e-9 ? 0 : Math.sign(a - b);
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function meansOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = new Set(all.flatMap((terms) => Object.keys(terms)));
  return Object.fromEntries(
    [...names].map((name) => [name, average(all.map((terms) => terms[name] ?? 0))]),
  );
}

/**
 * Facts that a preset reads and the stored tasks lack, as far as its notes name them: terms that
 * need them give 0.
 */
export function missingFacts(preset: string, { sets }: StoredRun): readonly string[] {
  const notes = presetNamed(preset).notes.join(' ');
  const read = new Set([...notes.matchAll(/metadata\.(\w+)/g)].map(([, name]) => name as string));
  const tasks = sets.flatMap(({ groups }) => groups.map(({ task }) => task));
  return [...read].filter((name) => !tasks.some(({ metadata }) => metadata[name] !== undefined));
}
