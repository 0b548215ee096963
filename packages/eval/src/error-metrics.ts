/** The errors of tool use as metrics: shares of the wrong answers, kind by kind. */
import { messageOf } from '@saccade/core';
import type { Ask, ErrorInput, ScoredGroupResult } from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import {
  type ErrorTag,
  errorKinds,
  isUndecided,
  type TaggingOptions,
  tagErrors,
} from './error-taxonomy.ts';
import { type JudgedTask, judgeError } from './judged-errors.ts';

/** A wrong trajectory with its errors. */
export interface WrongTrajectory {
  readonly trajectory: ScoredTrajectory;
  readonly tags: readonly ErrorTag[];
  /** Whether the tags are a judge's. */
  readonly isJudged?: boolean;
}

/** The judge of what no rule decides. */
export interface ErrorJudging {
  readonly ask: Ask<ErrorInput>;
  /** The task of each result, in their order. */
  readonly tasks: readonly JudgedTask[];
}

/** How `errorMetrics` tags, what it asks, and whom it tells of problems. */
export interface ErrorMetricsOptions {
  readonly settings: TaggingOptions;
  /** Absent: what no rule decides stays undecided. */
  readonly judging?: ErrorJudging;
  /** Told why there are no metrics, or why the judge decided nothing. */
  onWarning(message: string): void;
}

/**
 * `errors/E1` … `errors/E6`: the share of wrong trajectories with an error of that kind, as the paper
 * counts; they may sum to more than 1. `errors/undecided` is the share for which nobody has a reason.
 * With a judge, `errors/judged` is the share whose error it told. Nothing is logged where no trajectory
 * is wrong. Metrics decide nothing, so what goes wrong is a warning and no error.
 */
export async function errorMetrics(
  results: readonly ScoredGroupResult[],
  { settings, judging, onWarning }: ErrorMetricsOptions,
): Promise<Readonly<Record<string, number>>> {
  try {
    const wrong = results.flatMap((result, index) =>
      wrongOf(result, settings).map((one) => ({ ...one, task: judging?.tasks[index] })),
    );
    if (judging === undefined) return sharesOf(wrong);
    const failures: string[] = [];
    const judged = await Promise.all(
      wrong.map(async ({ task, ...one }) => {
        if (task === undefined) return one;
        const { failure, ...found } = await decide(one, task, judging.ask);
        if (failure !== undefined) failures.push(failure);
        return found;
      }),
    );
    const [failure] = failures;
    if (failure !== undefined) {
      onWarning(`The judge decided nothing of ${failures.length} wrong answers: ${failure}`);
    }
    const count = judged.filter(({ isJudged = false }) => isJudged).length;
    const shares = sharesOf(judged);
    return judged.length === 0 ? shares : { ...shares, 'errors/judged': count / judged.length };
  } catch (error) {
    onWarning(`The errors of tool use could not be told: ${messageOf(error)}`);
    return {};
  }
}

/** A wrong trajectory after the judge was asked, if no rule decided it. */
export async function decide(
  wrong: WrongTrajectory,
  task: JudgedTask,
  ask: Ask<ErrorInput>,
): Promise<WrongTrajectory & { readonly failure?: string }> {
  if (!isUndecided(wrong.trajectory, wrong.tags)) return wrong;
  const { tag, failure } = await judgeError(wrong.trajectory, task, ask);
  if (tag !== undefined) return { ...wrong, tags: [tag], isJudged: true };
  return failure === undefined ? wrong : { ...wrong, failure };
}

function wrongOf(
  { scored, contexts }: ScoredGroupResult,
  settings: TaggingOptions,
): readonly WrongTrajectory[] {
  return scored.trajectories.flatMap((trajectory, index) => {
    const context = contexts[index];
    if (trajectory.isCorrect || context === undefined) return [];
    return [{ trajectory, tags: tagErrors(trajectory, context, settings) }];
  });
}

/** `errors/<kind>` and `errors/undecided` of wrong trajectories; nothing where there are none. */
export function sharesOf(wrong: readonly WrongTrajectory[]): Readonly<Record<string, number>> {
  if (wrong.length === 0) return {};
  const share = (has: (one: WrongTrajectory) => boolean): number =>
    wrong.filter(has).length / wrong.length;
  const kinds = errorKinds.map((kind) => [
    `errors/${kind}`,
    share(({ tags }) => tags.some((tag) => tag.kind === kind)),
  ]);
  return {
    ...Object.fromEntries(kinds),
    'errors/undecided': share(({ trajectory, tags }) => isUndecided(trajectory, tags)),
  };
}
