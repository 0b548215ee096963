/** `saccade train`: runs a recipe, or continues with a run. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import {
  checkpointsOf,
  hasProfile,
  listCheckpoints,
  makeDirectories,
  needed,
  nodeFileSystem,
  readProfile,
} from '@saccade/run-store';
import {
  applySettings,
  checkRun,
  checkStart,
  inputOfRun,
  type RunConfig,
  readRunConfig,
  resolveRun,
  type Setting,
  type StoredRunConfig,
  type TrainResult,
  train,
} from '@saccade/train';
import { readConfigFile } from './config-file.ts';
import { listenForInterruption } from './interruption.ts';
import { printJson } from './json.ts';
import { findRecipe } from './recipe-arguments.ts';
import { say } from './say.ts';
import { INTERRUPTED, openPython } from './shared.ts';
import { printNumbers } from './table.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface TrainFlags {
  readonly set: readonly Setting[];
  readonly seed?: number;
  readonly steps?: number;
  readonly out?: string;
  readonly resume?: string;
  readonly backend?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly profile?: boolean;
}

export async function trainRecipe(name: string, flags: TrainFlags): Promise<void> {
  const isResumed = flags.resume !== undefined;
  if (
    isResumed &&
    (flags.set.length > 0 || [flags.seed, flags.backend, flags.config].some((f) => f !== undefined))
  ) {
    throw new ConfigError(
      '--resume',
      'A resumed run keeps its configuration: leave out --set, --seed, --backend and --config, or ' +
        'start a new run. --steps may be larger than before: it extends the run.',
    );
  }
  const shown = terminalProgress({ stream: process.stderr });
  const resolved = isResumed
    ? extend(await readRunConfig(resolve(flags.resume ?? ''), shown), flags.steps)
    : await configure(name, flags);
  const { config, source } = resolved;
  const directory = resolve(flags.resume ?? flags.out ?? freeDirectory(config.recipe, config.seed));
  makeDirectories(nodeFileSystem, directory);
  const hasCheckpoint = (): boolean => listCheckpoints(checkpointsOf(directory)).length > 0;
  const leaves = (): string =>
    hasCheckpoint()
      ? `The last checkpoint stands. Continue with: npx saccade train --resume ${directory}`
      : `Nothing was learned yet. Start with: npx saccade train --resume ${directory}`;
  const interruption = listenForInterruption({ onEvent: shown, leaves });
  const { onEvent, isRequested, signal } = interruption;
  try {
    const result = await train({
      run: resolved,
      ...(source && { source }),
      directory,
      python: () => openPython(onEvent, signal),
      resume: isResumed,
      onEvent,
      isStopRequested: isRequested,
      isProfiled: flags.profile ?? false,
    });
    // Before the report, which links to its page.
    const isThere = flags.profile === true && hasProfile(directory);
    const profile = isThere ? await showProfile(directory, flags) : undefined;
    if (result.isFinished) {
      const { writeReport } = await import('@saccade/report');
      const report = await writeReport(directory);
      if (flags.json) printJson({ ...result, directory, report, ...(profile && { profile }) });
      else for (const line of describeResult(config, result.final)) say(line);
      if (!flags.json) say(`Report: ${report}`);
    }
    if (!result.isFinished) stop(directory, hasCheckpoint(), flags);
  } finally {
    interruption.dispose();
  }
}

/** Writes the page of a run's profile and sums it up; gives the page's path. */
async function showProfile(directory: string, { json }: TrainFlags): Promise<string> {
  const { describeProfile, profileColumns, profileRows, writeProfilePage } = await import(
    '@saccade/report'
  );
  const page = writeProfilePage(directory);
  if (json) return page;
  const stored = needed(readProfile(directory));
  for (const line of describeProfile(stored)) say(line);
  printNumbers(
    ['part', ...profileColumns],
    profileRows(stored).map(({ name, isGroup, cells }) => [isGroup ? name : `  ${name}`, ...cells]),
  );
  say(`Profile: ${page}`);
  return page;
}

/** What a run came to, in sentences. */
function describeResult({ rl, sft }: RunConfig, final: TrainResult['final']): readonly string[] {
  if (final === undefined) return [];
  const { accuracy, toolCalls, count } = final;
  const percent = (100 * accuracy).toFixed(1);
  const result = `Held-out accuracy ${percent} % over ${count} tasks, ${toolCalls.toFixed(2)} tool calls a task.`;
  if (accuracy > 0) return [result];
  const so = `${sft.updates} updates of the cold start and ${rl.steps} steps`;
  return [result, `No answer was right: ${so} teach little. A run that learns: saccade train.`];
}

/** Ends the process: what was given up may still keep it alive. */
function stop(directory: string, hasCheckpoint: boolean, { json }: TrainFlags): never {
  const resume = `npx saccade train --resume ${directory}`;
  if (json) printJson({ isFinished: false, directory, hasCheckpoint, resume });
  else if (hasCheckpoint) say(`Stopped with a checkpoint. Continue with: ${resume}`);
  else say(`Stopped before anything was learned. Start with: ${resume}`);
  process.exit(INTERRUPTED);
}

async function configure(name: string, flags: TrainFlags): Promise<StoredRunConfig> {
  const { input, source } = await findRecipe(name);
  const settings: Setting[] = [...readConfigFile(flags.config), ...flags.set];
  if (flags.seed !== undefined) settings.push({ path: 'seed', value: flags.seed });
  if (flags.steps !== undefined) settings.push({ path: 'rl.steps', value: flags.steps });
  if (flags.backend !== undefined) settings.push({ path: 'backend', value: flags.backend });
  const run = resolveRun(applySettings(input, settings));
  checkRun(run);
  checkStart(run);
  return { ...run, ...(source && { source }) };
}

/**
 * The configuration of a run that goes on for more steps. Its learning rate follows the longer run
 * from where it stands.
 *
 * @throws ConfigError for fewer steps than the run was started with
 */
function extend(run: StoredRunConfig, steps: number | undefined): StoredRunConfig {
  const before = run.config.rl.steps;
  if (steps === undefined || steps === before) return run;
  if (steps < before) {
    throw new ConfigError(
      '--steps',
      `--steps: the run was started with ${before} steps and can only be extended, got ${steps}.`,
    );
  }
  const input = applySettings(inputOfRun(run), [{ path: 'rl.steps', value: steps }]);
  return { ...run, ...resolveRun(input) };
}

/** The first of runs/<recipe>-seed<n>, …-2, …-3 that holds no run yet. */
function freeDirectory(recipe: string, seed: number): string {
  const base = join('runs', `${recipe}-seed${seed}`);
  for (let n = 1; ; n++) {
    const directory = n === 1 ? base : `${base}-${n}`;
    if (!existsSync(join(directory, 'metrics.jsonl'))) return directory;
  }
}
