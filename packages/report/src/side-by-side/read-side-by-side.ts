/** Evaluations of several models as one set of data: results, comparisons and facts of each sample. */
import { ConfigError, messageOf } from '@saccade/core';
import {
  compareEvaluations,
  factsOf,
  measureDefaults,
  measureEvaluation,
  type SampleFacts,
  type SuiteComparison,
} from '@saccade/eval';
import {
  type Damage,
  describeDamage,
  type EvaluatedTask,
  readEvaluation,
  type StoredEvaluation,
  type SuiteResults,
} from '@saccade/run-store';
import { holm } from '@saccade/statistics';

/** A model of the page. */
interface PageModel {
  readonly label: string;
  readonly evaluation: StoredEvaluation;
}

/** A model on a suite. */
export interface ModelOnSuite {
  /** Index in the page's models. */
  readonly model: number;
  readonly results: SuiteResults;
  /** By the task's index in the suite, in the order of samples. */
  readonly samples: ReadonlyMap<number, readonly SampleFacts[]>;
}

/** Two models on a suite; differences are the first minus the second. */
interface PairOnSuite {
  readonly models: readonly [number, number];
  readonly comparison: SuiteComparison;
  /** p for all pairs of the suite at once (Holm). */
  readonly adjustedPValue: number;
}

/** A suite with every model that was evaluated on it. */
export interface PageSuite {
  readonly name: string;
  readonly description: string;
  readonly k: number;
  readonly tasks: readonly EvaluatedTask[];
  readonly models: readonly ModelOnSuite[];
  readonly pairs: readonly PairOnSuite[];
}

/** Everything that the page shows. */
export interface SideBySide {
  readonly models: readonly PageModel[];
  readonly suites: readonly PageSuite[];
  /** One sentence for each thing that could not be used. */
  readonly gaps: readonly string[];
}

/** Which suites are read, and how intervals are drawn. */
export interface SideBySideOptions {
  /** Names of suites; default all. */
  readonly suites?: readonly string[];
  /** Of intervals. Default 2000. */
  readonly resamples?: number;
}

/**
 * Reads evaluations. Results are measured from the samples, so that all of them are by the same rules.
 *
 * @throws ConfigError for no evaluation, or a suite that none of them has
 * @throws StoreError if an evaluation is damaged
 */
export function readSideBySide(
  directories: readonly string[],
  { suites, resamples = measureDefaults.resamples }: SideBySideOptions = {},
): SideBySide {
  if (directories.length === 0) {
    throw new ConfigError('directories', 'directories: expected evaluations, got none. Give one.');
  }
  const damage: Damage[] = [];
  const evaluations = directories.map((directory) => {
    const read = readEvaluation(directory);
    damage.push(...read.damage);
    return read.value;
  });
  const labels = uniqueLabels(evaluations);
  const models = evaluations.map((evaluation, index) => ({
    label: labels[index] ?? evaluation.model.label,
    evaluation,
  }));
  const known = [...new Set(evaluations.flatMap((one) => one.suites.map(({ name }) => name)))];
  const missing = suites?.find((name) => !known.includes(name));
  if (missing !== undefined) {
    throw new ConfigError(
      'suite',
      `suite: no evaluation has "${missing}". They have ${known.join(', ')}.`,
    );
  }
  const options = { ...measureDefaults, resamples };
  const measured = evaluations.map((one) => measureEvaluation(one, options, damage).suites);
  const gaps: string[] = [];
  const pages = known
    .filter((name) => suites?.includes(name) ?? true)
    .map((name) => suiteOf(name, { models, measured, resamples, gaps }));
  const found = [...new Set(damage.map(describeDamage))];
  return { models, suites: pages, gaps: [...found, ...gaps] };
}

/** Labels of models; those that are alike get the name of their directory. */
function uniqueLabels(evaluations: readonly StoredEvaluation[]): readonly string[] {
  const labels = evaluations.map(({ model }) => model.label);
  return labels.map((label, index) => {
    if (labels.filter((other) => other === label).length === 1) return label;
    return `${label} (${evaluations[index]?.directory.split('/').filter(Boolean).at(-1)})`;
  });
}

interface SuiteInput {
  readonly models: readonly PageModel[];
  readonly measured: readonly Readonly<Record<string, SuiteResults>>[];
  readonly resamples: number;
  readonly gaps: string[];
}

function suiteOf(name: string, { models, measured, resamples, gaps }: SuiteInput): PageSuite {
  const there = models.flatMap(({ evaluation }, model) => {
    const results = measured[model]?.[name];
    return results === undefined ? [] : [{ model, evaluation, results }];
  });
  const [first] = there;
  const stored = first?.evaluation.suites.find((suite) => suite.name === name);
  const comparisons: { models: [number, number]; comparison: SuiteComparison }[] = [];
  for (const [index, one] of there.entries()) {
    for (const other of there.slice(index + 1)) {
      try {
        const how = { ...measureDefaults, resamples };
        const comparison = compareEvaluations(one.evaluation, other.evaluation, name, how);
        comparisons.push({ models: [one.model, other.model], comparison });
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        gaps.push(messageOf(error));
      }
    }
  }
  const adjusted = holm(comparisons.map(({ comparison }) => comparison.pValue));
  return {
    name,
    description: stored?.description ?? '',
    k: Math.max(1, ...there.map(({ results }) => results.k)),
    tasks: first?.evaluation.tasks(name).value ?? [],
    models: there.map(({ model, evaluation, results }) => ({
      model,
      results,
      samples: byTask(factsOf(evaluation, name)),
    })),
    pairs: comparisons.map((pair, index) => ({ ...pair, adjustedPValue: adjusted[index] ?? 1 })),
  };
}

function byTask(facts: readonly SampleFacts[]): ReadonlyMap<number, readonly SampleFacts[]> {
  const groups = new Map<number, SampleFacts[]>();
  for (const sample of facts) {
    const group = groups.get(sample.taskIndex);
    if (group === undefined) groups.set(sample.taskIndex, [sample]);
    else group.push(sample);
  }
  return groups;
}
