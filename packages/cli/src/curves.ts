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
import { printJson } from './json.ts';
import { outputFile } from './output-file.ts';

export interface CurvesFlags {
  readonly label: readonly string[];
  readonly out: string;
  readonly json?: boolean;
}

/** Prints the table of the runs and writes their image. */
export function drawCurves(runs: readonly string[], flags: CurvesFlags): void {
  const compared = readRuns(runs, flags.label);
  const path = outputFile(flags.out);
  writeFileSync(path, drawComparison(compared));
  if (flags.json) {
    printJson({ runs: comparisonNumbers(compared), curves: path });
    return;
  }
  console.log(comparisonTable(compared));
  console.log(`\nCurves: ${path}`);
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
