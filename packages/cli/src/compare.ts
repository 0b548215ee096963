/** `saccade compare`: one field, several values, one cold start; a table and an image. */
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import { compare, planComparison } from '@saccade/experiments';
import { comparisonNumbers, comparisonTable, drawComparison, MOST_RUNS } from '@saccade/report';
import { applySettings, type Setting } from '@saccade/train';
import { readConfigFile } from './config-file.ts';
import { listenForInterruption } from './interruption.ts';
import { printJson } from './json.ts';
import { findRecipe } from './recipe-arguments.ts';
import { say } from './say.ts';
import { INTERRUPTED, openPython } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface CompareFlags {
  readonly vary?: string;
  readonly from?: string;
  readonly out: string;
  readonly set: readonly Setting[];
  readonly seed?: number;
  readonly steps?: number;
  readonly config?: string;
  readonly json?: boolean;
}

export async function compareRuns(name: string, flags: CompareFlags): Promise<void> {
  if (flags.vary === undefined) {
    throw new ConfigError(
      '--vary',
      '--vary is missing: which field differs, and its values. E.g. --vary algorithm=grpo,dapo.',
    );
  }
  if (flags.from !== undefined && !existsSync(flags.from)) {
    throw new ConfigError('--from', `--from: there is no ${resolve(flags.from)}. Give a run.`);
  }
  const { input, source } = await findRecipe(name);
  const settings: Setting[] = [...readConfigFile(flags.config), ...flags.set];
  if (flags.seed !== undefined) settings.push({ path: 'seed', value: flags.seed });
  if (flags.steps !== undefined) settings.push({ path: 'rl.steps', value: flags.steps });
  const directory = resolve(flags.out);
  const plan = planComparison({
    vary: flags.vary,
    base: applySettings(input, settings),
    directory,
    ...(flags.from !== undefined && { from: resolve(flags.from) }),
  });
  if (plan.variants.length > MOST_RUNS) {
    throw new ConfigError(
      'vary',
      `An image holds at most ${MOST_RUNS} runs, got ${plan.variants.length}. Make several.`,
    );
  }
  // Each run has clocks of its own: what is left of one says nothing about the next.
  let progress = terminalProgress({ stream: process.stderr });
  const interruption = listenForInterruption({
    onEvent: (event) => progress(event),
    leaves: () => 'Call the same command to continue.',
  });
  const { onEvent, signal } = interruption;
  const python = (): Promise<string> => openPython(onEvent, signal);
  try {
    const runs = await compare(plan, {
      python,
      ...(source && { source }),
      onEvent,
      isStopRequested: interruption.isRequested,
      onRun: (label, index, count) => {
        console.error(index === 0 ? '\nCold start' : `\n${index}/${count} ${label}`);
        progress = terminalProgress({ stream: process.stderr });
      },
    });
    if (runs.length < plan.variants.length) {
      if (flags.json) printJson({ isFinished: false, directory, runs: comparisonNumbers(runs) });
      else say('Stopped. Call the same command to continue.');
      // What was given up may still keep the process alive.
      process.exit(INTERRUPTED);
    }
    const table = comparisonTable(runs);
    const image = join(directory, 'curves.svg');
    writeFileSync(join(directory, 'table.md'), `${table}\n`);
    writeFileSync(image, drawComparison(runs));
    if (flags.json) {
      printJson({ isFinished: true, directory, runs: comparisonNumbers(runs), curves: image });
    } else {
      console.log(`${table}\n\nCurves: ${image}`);
    }
  } finally {
    interruption.dispose();
  }
}
