/** Plans the runs of an experiment and does what is still to do of them. */
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import type { ComparedRun } from '@saccade/report';
import {
  applySettings,
  checkRun,
  inputOf,
  parseSetting,
  type ResolvedRun,
  recipes,
  resolveRun,
  type Setting,
} from '@saccade/train';
import { type CompareOptions, type Comparison, compare, startOf, type Variant } from './compare.ts';
import type { Experiment, ExperimentPart } from './experiment.ts';

/** A part with its runs. */
interface PlannedPart {
  readonly part: ExperimentPart;
  readonly variants: readonly Variant[];
}

export interface ExperimentPlan {
  readonly experiment: Experiment;
  readonly coldStarts: readonly Required<Comparison['coldStart']>[];
  readonly parts: readonly PlannedPart[];
}

/** A part with what its runs logged, as far as they have ended. */
export interface PartResult {
  readonly part: ExperimentPart;
  readonly runs: readonly ComparedRun[];
}

/**
 * Every run of an experiment, checked before any begins.
 *
 * @param settings what a person changes for all runs
 * @throws ConfigError naming the part, the variant and the field that does not fit
 */
export function planExperiment(
  experiment: Experiment,
  directory: string,
  settings: readonly Setting[] = [],
): ExperimentPlan {
  const coldStarts = experiment.coldStarts.map((start) => ({
    directory: join(directory, start.name),
    run: configure(start.recipe, [
      ...settings,
      ...start.settings.map(parseSetting),
      { path: 'rl.steps', value: 0 },
    ]),
  }));
  const parts = experiment.parts.map((part): PlannedPart => {
    const at = experiment.coldStarts.findIndex(({ name }) => name === part.from);
    const coldStart = coldStarts[at];
    if (coldStart === undefined) {
      const known = experiment.coldStarts.map(({ name }) => name).join(', ');
      throw new ConfigError(
        'from',
        `${experiment.name}/${part.name} begins from "${part.from}". Known cold starts: ${known}.`,
      );
    }
    const variants = part.variants.map(({ label, settings: own }) => {
      const run = configure(part.recipe, [
        ...part.settings.map(parseSetting),
        ...settings,
        ...own.map(parseSetting),
        { path: 'startFrom', value: coldStart.directory },
      ]);
      expectSameStart(`${experiment.name}/${part.name}/${label}`, run, coldStart.run);
      return { label, directory: join(directory, part.name, folderOf(label)), run };
    });
    return { part, variants };
  });
  return { experiment, coldStarts, parts };
}

/** The folder of a run: `without penalties` becomes `without-penalties`. */
function folderOf(label: string): string {
  return label.toLowerCase().replaceAll(/[^\w.+-]+/g, '-');
}

function configure(recipe: string, settings: readonly Setting[]): ResolvedRun {
  const run = resolveRun(applySettings(inputOf(recipes.get(recipe)), settings));
  checkRun(run);
  return run;
}

function expectSameStart(label: string, run: ResolvedRun, coldStart: ResolvedRun): void {
  const theirs = startOf(coldStart);
  const differing = Object.entries(startOf(run)).find(
    ([key, part]) => JSON.stringify(part) !== JSON.stringify(theirs[key]),
  )?.[0];
  if (differing === undefined) return;
  throw new ConfigError(
    differing,
    `${label} has another ${differing} than the cold start it begins from. Vary fields of ` +
      'reinforcement learning only, or give it a cold start of its own.',
  );
}

export interface RunExperimentOptions extends CompareOptions {
  /** Called whenever a run has ended, with all that have so far. */
  readonly onResults: (results: readonly PartResult[]) => void;
}

/**
 * Does what is still to do: finished runs stay as they are, others continue. Called again after a stop
 * it continues there.
 *
 * @returns whether all of it is done
 */
export async function runExperiment(
  plan: ExperimentPlan,
  options: RunExperimentOptions,
): Promise<boolean> {
  const { onResults, onRun } = options;
  const results = plan.parts.map(({ part }) => ({ part, runs: [] as ComparedRun[] }));
  const count = plan.parts.reduce((sum, { variants }) => sum + variants.length, 0);
  let done = 0;
  for (const coldStart of plan.coldStarts) {
    const whose = plan.parts.flatMap(({ part, variants }, index) => {
      const isIts = variants[0]?.run.config.startFrom === coldStart.directory;
      return isIts ? variants.map((variant) => ({ variant, index, part })) : [];
    });
    const comparison = { coldStart, variants: whose.map(({ variant }) => variant) };
    const runs = await compare(comparison, {
      ...options,
      onRun: (label, index) => {
        const { part } = whose[index - 1] ?? {};
        if (part === undefined) onRun(label, 0, count);
        else onRun(`${part.name}: ${label}`, ++done, count);
      },
      onEnd: (run, index) => {
        results[whose[index]?.index ?? 0]?.runs.push(run);
        onResults(results);
      },
    });
    if (runs.length < whose.length) return false;
  }
  return true;
}
