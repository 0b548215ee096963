/** Runs that differ in one field and share everything else: seed, tasks and cold start. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type EventSink } from '@saccade/core';
import { type ComparedRun, writeReport } from '@saccade/report';
import { makeDirectories, nodeFileSystem, readMetrics } from '@saccade/run-store';
import {
  applySettings,
  checkRun,
  parseSetting,
  type RecipeSource,
  type ResolvedRun,
  type RunInput,
  readRunConfig,
  resolveRun,
  type Setting,
  train,
} from '@saccade/train';

/** One run of a comparison. */
export interface Variant {
  /** The value the field has in it. */
  readonly label: string;
  readonly directory: string;
  readonly run: ResolvedRun;
}

export interface Comparison {
  /** Has the cold start; another run's directory, or one that is made first. */
  readonly coldStart: { readonly directory: string; readonly run?: ResolvedRun };
  readonly variants: readonly Variant[];
}

export interface ComparisonOptions {
  /** `field=value,value,…` */
  readonly vary: string;
  readonly base: RunInput;
  readonly directory: string;
  /** A run whose cold start all take over; without it one is made. */
  readonly from?: string;
}

/**
 * The runs of a comparison, every one checked before any begins.
 *
 * @throws ConfigError naming the value that does not fit
 */
export function planComparison({ vary, base, directory, from }: ComparisonOptions): Comparison {
  const equals = vary.indexOf('=');
  const [field, values] = [vary.slice(0, equals), vary.slice(equals + 1).split(',')];
  if (equals <= 0 || values.includes('') || values.length < 2) {
    throw new ConfigError(
      'vary',
      `--vary ${vary}: expected a field and two or more values. Write it like ` +
        '--vary algorithm=grpo,dapo.',
    );
  }
  if (new Set(values).size < values.length) {
    throw new ConfigError('vary', `--vary ${vary}: a value stands twice. Give each once.`);
  }
  const coldStart = from ?? join(directory, 'cold-start');
  const configure = (settings: readonly Setting[]): ResolvedRun => {
    const run = resolveRun(applySettings(base, settings));
    checkRun(run);
    return run;
  };
  const shared = startOf(configure([]));
  const variants = values.map((value) => {
    const run = configure([
      parseSetting(`${field}=${value}`),
      { path: 'startFrom', value: coldStart },
    ]);
    const differing = Object.entries(startOf(run)).find(
      ([key, part]) => JSON.stringify(part) !== JSON.stringify(shared[key]),
    )?.[0];
    if (differing !== undefined) {
      throw new ConfigError(
        'vary',
        `--vary ${field}: it changes ${differing}, which the cold start is made with, and all runs ` +
          'share one. Make separate runs, and put them side by side with saccade curves.',
      );
    }
    return {
      label: value,
      directory: join(directory, value.replaceAll(/[^\w.+-]/g, '-')),
      run,
    };
  });
  return {
    coldStart: {
      directory: coldStart,
      ...(from === undefined && { run: configure([{ path: 'rl.steps', value: 0 }]) }),
    },
    variants,
  };
}

/** The configuration that determines a cold start: runs that share one agree in it. */
export function startOf({ config }: ResolvedRun): Readonly<Record<string, unknown>> {
  const { seed, model, protocol, coldStart, sft, sftOptimizer, sftSchedule } = config;
  return { seed, model, protocol: protocol.name, coldStart, sft, sftOptimizer, sftSchedule };
}

export interface CompareOptions {
  readonly python: () => Promise<string>;
  /** The recipe's file, where it is one. */
  readonly source?: RecipeSource;
  readonly onEvent: EventSink;
  readonly isStopRequested: () => boolean;
  /** Called before each run with its name. */
  readonly onRun: (name: string, index: number, count: number) => void;
  /** Called after each run that has ended, with its index from 0. */
  readonly onEnd?: (run: ComparedRun, index: number) => void;
}

/**
 * Does what is still to do of a comparison: finished runs stay as they are, others continue.
 *
 * @returns the finished runs; fewer than planned if a person asked for a stop
 * @throws ConfigError if a directory holds a run with another configuration
 */
export async function compare(
  { coldStart, variants }: Comparison,
  options: CompareOptions,
): Promise<readonly ComparedRun[]> {
  const { onRun } = options;
  const { run: start } = coldStart;
  if (start !== undefined) {
    onRun('cold start', 0, variants.length);
    if (!(await finish({ directory: coldStart.directory, run: start }, options))) return [];
  }
  const runs: ComparedRun[] = [];
  for (const [i, variant] of variants.entries()) {
    onRun(variant.label, i + 1, variants.length);
    if (!(await finish(variant, options))) break;
    const metrics = readMetrics(variant.directory).value.rows;
    const run = { label: variant.label, metrics };
    runs.push(run);
    options.onEnd?.(run, i);
  }
  return runs;
}

/** Runs or continues with one run; false if it was stopped. */
async function finish(
  { directory, run }: Pick<Variant, 'directory' | 'run'>,
  { python, source, onEvent, isStopRequested }: CompareOptions,
): Promise<boolean> {
  const resume = existsSync(join(directory, 'metrics.jsonl'));
  const isSame = async (): Promise<boolean> =>
    JSON.stringify((await readRunConfig(directory)).config) === JSON.stringify(run.config);
  if (resume && !(await isSame())) {
    throw new ConfigError(
      'out',
      `${directory} holds a run with another configuration. Choose another --out, or remove it.`,
    );
  }
  makeDirectories(nodeFileSystem, directory);
  const { isFinished } = await train({
    run,
    ...(source && { source }),
    directory,
    python,
    resume,
    onEvent,
    isStopRequested,
  });
  if (isFinished) await writeReport(directory);
  return isFinished;
}
