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
import { listenForInterruption } from './interruption.ts';
import { printJson } from './json.ts';
import { say } from './say.ts';
import { INTERRUPTED, openPython } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface ExperimentFlags {
  readonly out?: string;
  readonly set: readonly string[];
  readonly seed?: number;
  readonly steps?: number;
  readonly json?: boolean;
}

export function listExperiments({ json }: ExperimentFlags): void {
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

export async function trainExperiment(name: string, flags: ExperimentFlags): Promise<void> {
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
