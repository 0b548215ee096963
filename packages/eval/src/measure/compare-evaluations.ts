/** Two models on the same tasks: by how much they differ, and whether that is more than chance. */
import { ConfigError } from '@saccade/core';
import { type StoredEvaluation, taskDigest } from '@saccade/run-store';
import { comparePaired, mcnemar, type PairedComparison } from '@saccade/statistics';
import { factsOf, measureDefaults } from './measure-evaluation.ts';
import { type IntervalOptions, taskScores } from './measured.ts';

/** The comparison of two models on a suite; differences are `a` minus `b`. */
export interface SuiteComparison extends PairedComparison {
  readonly suite: string;
  /** Tasks that both have scored samples of. */
  readonly taskCount: number;
  readonly a: number;
  readonly b: number;
  /** McNemar's exact test of the majority of a task's samples being right. */
  readonly mcnemar: number;
}

/**
 * Compares two evaluations on a suite, task by task.
 *
 * @throws StoreError if one of them has no such suite
 * @throws ConfigError if the suites have other tasks, or no task in common has been sampled
 */
export function compareEvaluations(
  a: StoredEvaluation,
  b: StoredEvaluation,
  suite: string,
  { level, resamples, seed }: IntervalOptions = measureDefaults,
): SuiteComparison {
  const [own, other] = [a.suite(suite), b.suite(suite)];
  if (own.tasks.sha256 !== other.tasks.sha256) {
    const [mine, theirs] = [a.tasks(suite).value, b.tasks(suite).value];
    const at = mine.findIndex((task, index) => {
      const there = theirs[index];
      return there === undefined || taskDigest(there) !== taskDigest(task);
    });
    throw new ConfigError(
      suite,
      `${suite}: ${a.model.label} and ${b.model.label} were evaluated on other tasks ` +
        `(${own.tasks.count} and ${other.tasks.count}; the first that differs is ${at < 0 ? own.tasks.count : at}). ` +
        'Evaluate both with the same settings of the suite.',
    );
  }
  const [mine, theirs] = [a, b].map((one) => taskScores(factsOf(one, suite)));
  const shared = [...(mine?.keys() ?? [])].filter((index) => theirs?.has(index));
  if (shared.length === 0) {
    throw new ConfigError(suite, `${suite}: no task has samples of both models. Evaluate both.`);
  }
  const scores = [mine, theirs].map((of) => shared.map((index) => of?.get(index) ?? 0));
  const [first = [], second = []] = scores;
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const wins = (x: readonly number[], y: readonly number[]): number =>
    x.filter((value, index) => value >= 0.5 && (y[index] ?? 0) < 0.5).length;
  return {
    ...comparePaired(first, second, { level, resamples, seed }),
    suite,
    taskCount: shared.length,
    a: mean(first),
    b: mean(second),
    mcnemar: mcnemar(wins(first, second), wins(second, first)),
  };
}
