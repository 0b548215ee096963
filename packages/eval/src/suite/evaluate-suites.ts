/** Evaluates a model on suites, into a directory that a later call continues. */
import { ConfigError } from '@saccade/core';
import {
  describeDamage,
  type EvaluatedModel,
  type EvaluationResults,
  isEvaluation,
  lockRun,
  needed,
  readEvaluation,
  readEvaluationDocument,
  readTaskList,
  type StoredSuite,
  writeEvaluationDocument,
  writeResults,
  writeTaskList,
} from '@saccade/run-store';
import { type MeasureOptions, measureEvaluation } from '../measure/measure-evaluation.ts';
import { openDirectorySink } from './directory-sink.ts';
import { type DrawOptions, drawSamples } from './draw-samples.ts';
import { estimateSuite, type SuiteEstimate } from './estimate.ts';
import type { OpenSuite } from './open-suite.ts';
import { expectSameSuite, storedSuite } from './stored-suite.ts';
import { SuiteTasks } from './suite-tasks.ts';

/** Options of `evaluateSuites`. */
export interface EvaluateSuitesOptions extends DrawOptions {
  readonly model: EvaluatedModel;
  readonly suites: readonly OpenSuite[];
  /** A new directory, or one of the same model and seed. */
  readonly directory: string;
  readonly measure: MeasureOptions;
  /**
   * Called once all tasks have been read and nothing has been sampled; return false to sample
   * nothing.
   */
  readonly onEstimate?: (estimates: readonly SuiteEstimate[]) => boolean;
}

/** The result of `evaluateSuites`. */
export interface SuitesResult {
  readonly results: EvaluationResults;
  /** Why samples are missing, by suite; suites that are whole are left out. */
  readonly missing: Readonly<Record<string, string>>;
}

/**
 * Evaluates a model on suites. Samples that the directory holds are kept and not drawn again; a call
 * that was killed is continued by the same call. Suites may be added to a directory, and their `k` may
 * grow.
 *
 * @throws ConfigError if the directory holds another model, another seed, or a suite that has changed
 * @throws DataError if tasks cannot be read, or samples keep failing
 * @throws StateError if another process evaluates into the directory
 * @throws StoreError if the directory cannot be read or written
 */
export async function evaluateSuites(options: EvaluateSuitesOptions): Promise<SuitesResult> {
  const { directory, suites, onEvent } = options;
  expectNames(suites);
  const unlock = lockRun(directory, { activity: 'evaluating' });
  try {
    const known = knownSuites(options);
    const all: { suite: OpenSuite; tasks: SuiteTasks; stored: StoredSuite }[] = [];
    for (const suite of suites) {
      const tasks = new SuiteTasks(suite);
      const listed = await tasks.list(onEvent);
      const stored = storedSuite(suite, listed);
      const before = known.find(({ name }) => name === suite.name);
      if (before !== undefined) {
        const earlier = readTaskList(directory, suite.name).value;
        expectSameSuite(directory, before, stored, { before: earlier, now: listed });
      }
      // The same bytes where nothing has changed; whole again where the file was damaged.
      writeTaskList(directory, suite.name, listed);
      all.push({ suite, tasks, stored });
    }
    writeEvaluationDocument(directory, {
      model: options.model,
      seed: options.seed,
      suites: [
        ...known.map((one) => all.find(({ stored }) => stored.name === one.name)?.stored ?? one),
        ...all
          .map(({ stored }) => stored)
          .filter(({ name }) => !known.some((k) => k.name === name)),
      ],
    });
    const sinks = all.map(({ suite }) => openDirectorySink(directory, suite.name));
    const missing: Record<string, string> = {};
    try {
      const damage = new Set(sinks.flatMap((sink) => sink.damage.map(describeDamage)));
      for (const message of damage) onEvent({ kind: 'warning', message });
      const estimates = all.map(({ suite }, i) => estimateSuite(suite, sinks[i]?.count ?? 0));
      if (options.onEstimate?.(estimates) ?? true) {
        for (const [i, { suite, tasks }] of all.entries()) {
          const sink = sinks[i];
          if (sink === undefined) continue;
          const listed = readTaskList(directory, suite.name).value;
          const drawn = await drawSamples(suite, tasks, listed, sink, options);
          const why = Object.entries(drawn.reasons).map(([at, message]) => `${at}: ${message}`);
          if (drawn.missing > 0) {
            missing[suite.name] = `${drawn.missing} samples are missing (${why.join('; ')})`;
          }
        }
      }
    } finally {
      for (const sink of sinks) sink.close();
    }
    const { value } = readEvaluation(directory);
    const results = measureEvaluation(value, options.measure);
    writeResults(directory, results);
    return { results, missing };
  } finally {
    unlock();
  }
}

/** The suites of a directory that is there already. @throws ConfigError if it is of another model */
function knownSuites({ directory, model, seed }: EvaluateSuitesOptions): readonly StoredSuite[] {
  if (!isEvaluation(directory)) return [];
  const before = needed(readEvaluationDocument(directory));
  const remedy = 'Choose another --out; what is there is kept.';
  if (before.model.identity !== model.identity) {
    throw new ConfigError(
      'out',
      `${directory} holds an evaluation of ${before.model.label}, and this is ${model.label} ` +
        `(identity ${before.model.identity.slice(0, 12)}, now ${model.identity.slice(0, 12)}). ${remedy}`,
    );
  }
  if (before.seed !== seed) {
    throw new ConfigError(
      'seed',
      `${directory} holds samples of the seed ${before.seed}, and this seed is ${seed}. ` +
        `Give --seed ${before.seed}, or another --out; what is there is kept.`,
    );
  }
  return before.suites;
}

function expectNames(suites: readonly OpenSuite[]): void {
  const names = suites.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice === undefined && names.length > 0) return;
  throw new ConfigError(
    'suite',
    twice === undefined
      ? 'suite: expected at least one suite, got none.'
      : `suite: ${twice} stands twice. Name each once.`,
  );
}
