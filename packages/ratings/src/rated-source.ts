/** Where trajectories to be rated come from: an evaluation directory, or a run that keeps some. */
import { basename } from 'node:path';
import { ConfigError, DataError } from '@saccade/core';
import {
  describeDamage,
  isEvaluation,
  listTrajectorySets,
  readEvaluation,
  readTrajectorySet,
} from '@saccade/run-store';
import type { FindTrajectory, ShownTrajectory } from './rating-page.ts';
import type { RatedTrajectory } from './study.ts';

/** One model's trajectories, at most one of each task. */
export interface RatedSource {
  readonly label: string;
  /** By task: the trajectory's id, and how to load it with its images. */
  readonly entries: ReadonlyMap<string, RatedEntry>;
  /** One sentence for each thing that could not be read. */
  readonly gaps: readonly string[];
}

interface RatedEntry {
  readonly trajectoryId: string;
  load(): Promise<ShownTrajectory>;
}

/** Which of a directory's trajectories are rated. */
export interface SourceOptions {
  /** Of an evaluation; needed where it has several. */
  readonly suite?: string;
  /** File of a run's `trajectories/` without `.jsonl`. Default `evaluation-final`. */
  readonly of?: string;
}

/**
 * Opens a directory.
 *
 * @throws ConfigError if an evaluation has several suites and none is named
 * @throws DataError if there are no such trajectories
 * @throws StoreError if an evaluation is damaged
 */
export function openSource(directory: string, options: SourceOptions = {}): RatedSource {
  return isEvaluation(directory)
    ? evaluationSource(directory, options)
    : runSource(directory, options);
}

function evaluationSource(directory: string, { suite }: SourceOptions): RatedSource {
  const { value: evaluation, damage } = readEvaluation(directory);
  const names = evaluation.suites.map(({ name }) => name);
  const name = suite ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined) {
    throw new ConfigError(
      'suite',
      `${directory} has several suites: ${names.join(', ')}. Choose one with --suite.`,
    );
  }
  evaluation.suite(name);
  const tasks = evaluation.tasks(name);
  const questions = new Map(tasks.value.map((task) => [task.id, task.question]));
  const found = [...damage, ...tasks.damage];
  const entries = new Map<string, RatedEntry>();
  const indices = new Map<string, number>();
  for (const sample of evaluation.samples(name, found)) {
    const { taskId, sampleIndex, id } = sample.trajectory;
    // The first sample of each task, whatever the order in which they ended.
    if ((indices.get(taskId) ?? Number.POSITIVE_INFINITY) <= sampleIndex) continue;
    indices.set(taskId, sampleIndex);
    entries.set(taskId, {
      trajectoryId: id,
      load: async () => ({
        question: questions.get(taskId) ?? '',
        trajectory: (await sample.load()).value,
      }),
    });
  }
  return { label: evaluation.model.label, entries, gaps: found.map(describeDamage) };
}

function runSource(directory: string, { of = 'evaluation-final' }: SourceOptions): RatedSource {
  const names = listTrajectorySets(directory).value;
  if (!names.includes(of)) {
    const known = names.length === 0 ? 'It keeps none.' : `It keeps ${names.join(', ')}.`;
    throw new DataError(
      `${directory} is no evaluation, and keeps no trajectories called "${of}". ${known} Give an ` +
        'evaluation, or another --of.',
    );
  }
  const { value, damage } = readTrajectorySet(directory, of);
  const entries = new Map<string, RatedEntry>();
  for (const kept of value) {
    const { taskId, id } = kept.trajectory;
    if (entries.has(taskId)) continue;
    entries.set(taskId, {
      trajectoryId: id,
      load: async () => ({
        question: String(kept.tags.question ?? ''),
        trajectory: (await kept.load()).value,
      }),
    });
  }
  return { label: `${basename(directory)} ${of}`, entries, gaps: damage.map(describeDamage) };
}

/**
 * The trajectories of some sources, for `planStudy`, and how to find them again.
 *
 * @throws ConfigError if two sources have one name
 */
export function ratedIn(sources: readonly RatedSource[]): {
  readonly rated: readonly RatedTrajectory[];
  readonly find: FindTrajectory;
} {
  const byLabel = new Map(sources.map((source) => [source.label, source]));
  if (byLabel.size < sources.length) {
    const labels = sources.map(({ label }) => label).join(', ');
    throw new ConfigError(
      'directories',
      `directories: two of them are of one model: ${labels}. Give each model once.`,
    );
  }
  const rated = sources.flatMap(({ label, entries }) =>
    [...entries].map(([taskId, { trajectoryId }]) => ({ model: label, taskId, trajectoryId })),
  );
  return { rated, find: async (model, taskId) => byLabel.get(model)?.entries.get(taskId)?.load() };
}
