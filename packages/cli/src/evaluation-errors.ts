/** Errors of tool use in evaluations of suites: one table of all models, suite by suite. */
import { ConfigError } from '@saccade/core';
import { type ErrorColumn, errorColumns, formatPercent } from '@saccade/report';
import {
  describeDamage,
  isEvaluation,
  readEvaluation,
  type SuiteResults,
} from '@saccade/run-store';
import { formatTable } from './table.ts';

/** A row of the table: a model on a suite. */
interface ErrorRow {
  readonly suite: string;
  readonly model: string;
  readonly wrongShare: number;
  readonly count: number;
  readonly shares: Readonly<Partial<Record<ErrorColumn, number>>>;
}

/** The errors of some evaluations. */
interface EvaluationErrors {
  readonly rows: readonly ErrorRow[];
  readonly gaps: readonly string[];
}

/**
 * Whether these directories are evaluations of suites.
 *
 * @throws ConfigError where some are and some are not: their shares are of different things
 */
export function areEvaluations(directories: readonly string[]): boolean {
  const found = directories.filter((directory) => isEvaluation(directory));
  if (found.length === 0 || found.length === directories.length) return found.length > 0;
  throw new ConfigError(
    'runs',
    `${found.join(', ')} ${found.length === 1 ? 'is an evaluation' : 'are evaluations'} of suites, and ` +
      'the others are runs. Give either runs or evaluations.',
  );
}

/** The errors of the wrong samples of every suite, the models of one suite side by side. */
export function errorsOfEvaluations(directories: readonly string[]): EvaluationErrors {
  const gaps: string[] = [];
  const evaluations = directories.map((directory) => {
    const { value, damage } = readEvaluation(directory);
    gaps.push(...damage.map(describeDamage));
    if (value.results === undefined) {
      gaps.push(`${directory} has no results yet. Let its saccade eval end.`);
    }
    return value;
  });
  const suites = new Set(evaluations.flatMap(({ results }) => Object.keys(results?.suites ?? {})));
  const rows = [...suites].flatMap((suite) =>
    evaluations.flatMap(({ model, results }) => {
      const found = results?.suites[suite];
      return found === undefined ? [] : [rowOf(suite, model.label, found)];
    }),
  );
  return { rows, gaps };
}

function rowOf(suite: string, model: string, { metrics, samples }: SuiteResults): ErrorRow {
  // Only wrong samples have errors; of none there are no shares.
  const shares = errorColumns.flatMap((column) => {
    const share = metrics[`errors/${column}`];
    return share === undefined ? [] : [[column, share] as const];
  });
  return {
    suite,
    model,
    wrongShare: 1 - (metrics['correct/ratio'] ?? 0),
    count: samples,
    shares: Object.fromEntries(shares),
  };
}

/** The lines of the table. */
export function describeEvaluationErrors({ rows, gaps }: EvaluationErrors): readonly string[] {
  const lines = [
    'Errors as shares of the wrong samples of each suite:',
    '',
    ...formatTable([
      ['suite', 'model', 'wrong samples', ...errorColumns],
      ...rows.map(({ suite, model, wrongShare, count, shares }) => [
        suite,
        model,
        `${formatPercent(wrongShare, 1)} of ${count}`,
        ...errorColumns.map((column) => {
          const share = shares[column];
          return share === undefined ? '–' : formatPercent(share, 1);
        }),
      ]),
    ]),
  ];
  if (gaps.length > 0) {
    lines.push('', 'Not everything could be used:', ...gaps.map((gap) => `- ${gap}`));
  }
  return lines;
}
