/** Plans the runs of an experiment and does what is still to do of them. */
import { join } from 'node:path';
import { ConfigError } from '@saccade/core';
import type { ComparedRun } from '@saccade/report';
import { checkpointDirectory, checkpointsOf } from '@saccade/run-store';
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
  /** The directory that its runs begin from: a cold start's, or another run's last policy. */
  readonly start: string;
  readonly variants: readonly Variant[];
}

/** Where the runs of a part can begin, and the cold start beneath it. */
interface Start {
  readonly directory: string;
  readonly coldStart: Required<Comparison['coldStart']>;
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
  const known = new Map<string, Start>(
    experiment.coldStarts.map(({ name }, at) => {
      const coldStart = coldStarts[at] as (typeof coldStarts)[number];
      return [name, { directory: coldStart.directory, coldStart }];
    }),
  );
  const parts = experiment.parts.map((part): PlannedPart => {
    const start = known.get(part.from);
    if (start === undefined) {
      const list = [...known.keys()].join(', ');
      throw new ConfigError(
        'from',
        `${experiment.name}/${part.name} begins from "${part.from}". Known: ${list}.`,
      );
    }
    const variants = part.variants.map(({ label, settings: own }) => {
      const run = configure(part.recipe, [
        ...part.settings.map(parseSetting),
        ...settings,
        ...own.map(parseSetting),
        { path: 'startFrom', value: start.directory },
      ]);
      expectSameStart(`${experiment.name}/${part.name}/${label}`, run, start.coldStart.run);
      const variant = { label, directory: join(directory, part.name, folderOf(label)), run };
      known.set(`${part.name}/${label}`, {
        directory: lastPolicy(variant),
        coldStart: start.coldStart,
      });
      return variant;
    });
    return { part, start: start.directory, variants };
  });
  return { experiment, coldStarts, parts };
}

/** The weights that a run ends with. It has no cold start of its own: its steps are those of RL. */
function lastPolicy({ directory, run }: Variant): string {
  return join(checkpointDirectory(checkpointsOf(directory), run.config.rl.steps), 'policy');
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
  for (const coldStart of startsOf(plan)) {
    const whose = plan.parts.flatMap(({ part, start, variants }, index) => {
      const isIts = start === coldStart.directory;
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

/** Every directory that runs begin from: cold starts, then policies of runs, each after its run. */
function startsOf({ coldStarts, parts }: ExperimentPlan): readonly Comparison['coldStart'][] {
  const own = new Set(coldStarts.map(({ directory }) => directory));
  const later = new Set(parts.map(({ start }) => start).filter((start) => !own.has(start)));
  return [...coldStarts, ...[...later].map((directory) => ({ directory }))];
}
