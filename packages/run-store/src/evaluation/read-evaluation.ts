/** Reads an evaluation directory: the door for reports, comparisons, audits and ratings. */
import { isScored } from '@saccade/trajectory';
import { type FileSystemOption, nodeFileSystem } from '../file-system.ts';
import { type Damage, needed, type Read } from '../store-error.ts';
import {
  type EvaluatedModel,
  type EvaluationDocument,
  readEvaluationDocument,
  type StoredSuite,
} from './evaluation-document.ts';
import { type EvaluationResults, readResults } from './results-document.ts';
import {
  readSampleFiles,
  type ScoredSample,
  type StoredSample,
  sampleKey,
} from './sample-files.ts';
import { type EvaluatedTask, readTaskList } from './task-list.ts';

/** An evaluation directory, as far as it has been written. */
export interface StoredEvaluation {
  readonly directory: string;
  readonly model: EvaluatedModel;
  readonly seed: number;
  readonly suites: readonly StoredSuite[];
  /** Absent while nothing has been computed. */
  readonly results?: EvaluationResults;
  /** The suite of a name. @throws StoreError naming those that there are */
  suite(name: string): StoredSuite;
  /** The tasks of a suite in order, without their images. */
  tasks(suite: string): Read<readonly EvaluatedTask[]>;
  /**
   * The scored samples of a suite, each once, in the order in which they were finished: sort them by
   * task and `sampleIndex` where order matters. Read file by file, so large suites fit into memory.
   *
   * @param damage receives what is not as it was written
   */
  samples(suite: string, damage?: Damage[]): Iterable<ScoredSample>;
  /** Samples that were drawn and could not be scored; the tag `scoringFailure` says why. */
  unscored(suite: string, damage?: Damage[]): Iterable<StoredSample>;
}

/**
 * Opens an evaluation directory for reading. `results.json` that is damaged is named and left out: it
 * follows from the samples.
 *
 * @throws StoreError if `evaluation.json` is missing or damaged
 */
export function readEvaluation(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<StoredEvaluation> {
  const option = { fileSystem };
  const document: EvaluationDocument = needed(readEvaluationDocument(directory, option));
  const results = readResults(directory, option);
  const scored = function* (suite: string, damage: Damage[]): Generator<ScoredSample> {
    const from = { directory, suite, kind: 'scored' } as const;
    for (const sample of readSampleFiles(fileSystem, from, damage)) {
      const { trajectory } = sample;
      if (isScored(trajectory)) yield { ...sample, trajectory };
    }
  };
  const unscored = function* (suite: string, damage: Damage[]): Generator<StoredSample> {
    const done = new Set<string>();
    for (const { trajectory } of scored(suite, damage)) {
      done.add(sampleKey(trajectory.taskId, trajectory.sampleIndex));
    }
    const from = { directory, suite, kind: 'unscored' } as const;
    for (const sample of readSampleFiles(fileSystem, from, damage)) {
      const { taskId, sampleIndex } = sample.trajectory;
      if (!done.has(sampleKey(taskId, sampleIndex))) yield sample;
    }
  };
  const value: StoredEvaluation = {
    directory,
    model: document.model,
    seed: document.seed,
    suites: document.suites,
    ...(results.value && { results: results.value }),
    suite(name) {
      const found = document.suites.find((suite) => suite.name === name);
      const known = document.suites.map((suite) => suite.name).join(', ');
      const path = directory;
      const damage = [{ path, problem: `it has no suite "${name}"`, remedy: `It has ${known}.` }];
      return needed({ value: found, damage });
    },
    tasks: (suite) => readTaskList(directory, suite, option),
    samples: (suite, damage = []) => scored(suite, damage),
    unscored: (suite, damage = []) => unscored(suite, damage),
  };
  return { value, damage: results.damage };
}
