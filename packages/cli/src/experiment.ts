/** `saccade experiment`: a named experiment, from one cold start to one page of curves. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  drawExperimentCurves,
  drawExperimentPage,
  experiments,
  outcomeTable,
  type PartResult,
  planExperiment,
  runExperiment,
} from '@saccade/experiments';
import { comparisonNumbers, comparisonTable } from '@saccade/report';
import { parseSetting, type Setting } from '@saccade/train';
import type { Command } from 'commander';
import { listenForInterruption } from './interruption.ts';
import { jsonOption, printJson } from './json.ts';
import { say } from './say.ts';
import { collect, INTERRUPTED, openPython, wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface ExperimentFlags {
  readonly out?: string;
  readonly set: readonly string[];
  readonly seed?: number;
  readonly steps?: number;
  readonly json?: boolean;
}

export function addExperiment(program: Command): void {
  program
    .command('experiment')
    .description('Train all runs of an experiment from one cold start; one page of curves.')
    .argument('[name]', 'which one; without it they are listed')
    .option('--out <directory>', 'runs, report.html and curves.svg (default: runs/<name>)')
    .option('--set <field=value>', 'change a field for all; may be repeated', collect<string>, [])
    .option('--seed <n>', 'seed of every random stream', wholeNumber)
    .option('--steps <n>', 'reinforcement-learning steps of each run', wholeNumber)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade experiment                                the list of experiments
  saccade experiment reward-shaping                 all of it
  saccade experiment reward-shaping --steps 10 --out runs/short

Called again, it continues where it stopped; the page is written after every run.`,
    )
    .action((name: string | undefined, flags: ExperimentFlags) =>
      name === undefined ? list(flags) : run(name, flags),
    );
}

function list({ json }: ExperimentFlags): void {
  const all = experiments.entries().map(([name, { description, parts }]) => {
    return {
      name,
      description,
      runs: parts.reduce((sum, { variants }) => sum + variants.length, 0),
    };
  });
  if (json) {
    printJson(all);
    return;
  }
  for (const { name, description, runs } of all) say(`${name}  ${description} ${runs} runs.`);
  say('\nRun one with: saccade experiment <name>');
}

async function run(name: string, flags: ExperimentFlags): Promise<void> {
  const experiment = experiments.get(name);
  const settings: Setting[] = flags.set.map(parseSetting);
  if (flags.seed !== undefined) settings.push({ path: 'seed', value: flags.seed });
  if (flags.steps !== undefined) settings.push({ path: 'rl.steps', value: flags.steps });
  const directory = resolve(flags.out ?? join('runs', name));
  const plan = planExperiment(experiment, directory, settings);
  mkdirSync(directory, { recursive: true });
  const page = join(directory, 'report.html');
  const write = (results: readonly PartResult[]): void => {
    writeFileSync(page, drawExperimentPage(experiment, results, commandOf(name, flags)));
    writeFileSync(join(directory, 'curves.svg'), drawExperimentCurves(experiment, results));
  };
  // Each run has clocks of its own: what is left of one says nothing about the next.
  let progress = terminalProgress({ stream: process.stderr });
  const interruption = listenForInterruption({
    onEvent: (event) => progress(event),
    leaves: () => 'Call the same command to continue.',
  });
  const { onEvent, signal } = interruption;
  const python = (): Promise<string> => openPython(onEvent, signal);
  let results: readonly PartResult[] = [];
  try {
    const isDone = await runExperiment(plan, {
      python,
      onEvent,
      isStopRequested: interruption.isRequested,
      onRun: (label, index, count) => {
        console.error(index === 0 ? `\nCold start` : `\n${index}/${count} ${label}`);
        progress = terminalProgress({ stream: process.stderr });
      },
      onResults: (all) => {
        results = all;
        write(all);
      },
    });
    if (!isDone) {
      if (flags.json) printJson({ isFinished: false, directory, parts: numbersOf(results) });
      else say('Stopped. Call the same command to continue.');
      // What was given up may still keep the process alive.
      process.exit(INTERRUPTED);
    }
    if (flags.json)
      return printJson({ isFinished: true, directory, parts: numbersOf(results), page });
    for (const { part, runs } of results) {
      console.log(`${part.title}\n\n${comparisonTable(runs)}\n`);
      if (part.outcomes !== undefined) console.log(`${outcomeTable({ part, runs })}\n`);
    }
    console.log(`Curves: ${page}`);
  } finally {
    interruption.dispose();
  }
}

function numbersOf(results: readonly PartResult[]): readonly object[] {
  return results.map(({ part, runs }) => ({ title: part.title, runs: comparisonNumbers(runs) }));
}

/** The command as a person would type it. */
function commandOf(name: string, { set, seed, steps }: ExperimentFlags): string {
  return [
    `npx saccade experiment ${name}`,
    ...(seed === undefined ? [] : [`--seed ${seed}`]),
    ...(steps === undefined ? [] : [`--steps ${steps}`]),
    ...set.map((setting) => `--set ${setting}`),
  ].join(' ');
}
