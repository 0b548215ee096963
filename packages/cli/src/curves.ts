/** `saccade curves`: several runs in one table and one image. */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { ConfigError, DataError } from '@saccade/core';
import {
  type ComparedRun,
  comparisonNumbers,
  comparisonTable,
  drawComparison,
  MOST_RUNS,
} from '@saccade/report';
import { describeDamage, readMetrics } from '@saccade/run-store';
import type { Command } from 'commander';
import { jsonOption, printJson } from './json.ts';
import { collect } from './shared.ts';

interface CurvesOptions {
  readonly label: readonly string[];
  readonly out: string;
  readonly json?: boolean;
}

export function addCurves(program: Command): void {
  program
    .command('curves')
    .description('Put runs side by side: a table here, their curves in one SVG image.')
    .argument('<runs...>', `run directories, at most ${MOST_RUNS}`)
    .option(
      '--label <text>',
      'what to call a run, in their order; else its folder’s name',
      collect<string>,
      [],
    )
    .option('--out <file>', 'the image', 'curves.svg')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Example: does the bonus per tool call matter?
  saccade train --out runs/bonus
  saccade train --out runs/none --set reward.accumulative-tool=0
  saccade curves runs/bonus runs/none --label "bonus 0.1" --label "no bonus"`,
    )
    .action((runs: string[], options: CurvesOptions) => {
      const compared = readRuns(runs, options.label);
      const path = resolve(options.out);
      writeFileSync(path, drawComparison(compared));
      if (options.json) return printJson({ runs: comparisonNumbers(compared), curves: path });
      console.log(comparisonTable(compared));
      console.log(`\nCurves: ${path}`);
    });
}

/** @throws ConfigError or DataError naming what does not fit */
function readRuns(runs: readonly string[], labels: readonly string[]): readonly ComparedRun[] {
  if (runs.length > MOST_RUNS) {
    throw new ConfigError(
      'runs',
      `An image holds at most ${MOST_RUNS} runs, got ${runs.length}. Draw several images.`,
    );
  }
  if (labels.length > 0 && labels.length !== runs.length) {
    throw new ConfigError(
      'label',
      `--label must be given once for each of the ${runs.length} runs, got ${labels.length}.`,
    );
  }
  return runs.map((run, i) => {
    const path = join(resolve(run), 'metrics.jsonl');
    if (!existsSync(path)) {
      throw new DataError(`There is no ${path}. Give directories of runs.`);
    }
    const { value, damage } = readMetrics(resolve(run));
    for (const one of damage) console.error(describeDamage(one));
    return { label: labels[i] ?? basename(resolve(run)), metrics: value.rows };
  });
}
