/** Plans the runs of an experiment and does what is still to do of them. */
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import { type CompareOptions, type Comparison, compare, type Variant } from './compare.ts';
import type { RunConfig } from './config.ts';
import type { Experiment, ExperimentPart } from './experiment.ts';
import { checkNames } from './parts.ts';
import { recipes } from './registry.ts';
import type { ComparedRun } from './report/comparison.ts';
import { applySettings, parseSetting, type Setting, validateConfig } from './settings.ts';

/** A part with its runs. */
export interface PlannedPart {
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
    config: configure(start.recipe, [
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
      const config = configure(part.recipe, [
        ...part.settings.map(parseSetting),
        ...settings,
        ...own.map(parseSetting),
        { path: 'startFrom', value: coldStart.directory },
      ]);
      expectSameStart(`${experiment.name}/${part.name}/${label}`, config, coldStart.config);
      return { label, directory: join(directory, part.name, folderOf(label)), config };
    });
    return { part, variants };
  });
  return { experiment, coldStarts, parts };
}

/** The folder of a run: `without penalties` becomes `without-penalties`. */
export function folderOf(label: string): string {
  return label.toLowerCase().replaceAll(/[^\w.+-]+/g, '-');
}

function configure(recipe: string, settings: readonly Setting[]): RunConfig {
  const { config: base, name } = recipes.get(recipe);
  const config = validateConfig(
    applySettings(base, [{ path: 'recipe', value: name }, ...settings]),
  );
  checkNames(config);
  return config;
}

/** What a cold start is made with; a run that takes it over has to agree. */
const SHARED = ['seed', 'policy', 'protocol', 'sft'] as const;

function expectSameStart(run: string, config: RunConfig, coldStart: RunConfig): void {
  const field = SHARED.find(
    (key) => JSON.stringify(config[key]) !== JSON.stringify(coldStart[key]),
  );
  if (field === undefined) return;
  throw new ConfigError(
    field,
    `${run} has another ${field} than the cold start it begins from. Vary fields of rl, rollout ` +
      'and the task set only, or give it a cold start of its own.',
  );
}

export interface RunExperimentOptions extends CompareOptions {
  /** Called whenever a run has ended, with all that have so far. */
  readonly onResults: (results: readonly PartResult[]) => void;
}

/**
 * Does what is still to do: finished runs stay as they are, others go on. Called again after a stop
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
      const isIts = variants[0]?.config.startFrom === coldStart.directory;
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
