/** `saccade data stats`: a page of numbers and examples. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DataSource, measure, statisticsPage } from '@saccade/datasets';
import type { Command } from 'commander';
import { addSet, SET, SET_ABOUT, sourceContext, sourceHelp, sourceOf } from './data-source.ts';
import { jsonOption, printJson } from './json.ts';
import { wholeNumber } from './shared.ts';
import { terminalProgress } from './terminal-progress.ts';

interface StatsFlags {
  readonly set?: readonly string[];
  readonly most: number;
  readonly examples: number;
  readonly out?: string;
  readonly json?: boolean;
}

export function addDataStats(data: Command): void {
  data
    .command('stats')
    .description('Measure a data set: a page with sizes, answers, corrupt rows and examples.')
    .argument('<from>', 'a file, a folder, or hf:datasets/owner/name')
    .option(SET, SET_ABOUT, addSet)
    .option('--most <n>', 'rows of each split that are read, evenly over it', wholeNumber, 10_000)
    .option('--examples <n>', 'tasks of each split that are shown', wholeNumber, 20)
    .option('--out <file>', 'the page (default: statistics.html)')
    .addOption(jsonOption())
    .addHelpText('after', sourceHelp)
    .action((from: string, flags: StatsFlags) => stats(from, flags));
}

async function stats(from: string, flags: StatsFlags): Promise<void> {
  const { set, most, examples, out = 'statistics.html', json } = flags;
  const onEvent = terminalProgress({ stream: process.stderr });
  const source = await DataSource.open(sourceOf(from, set), sourceContext(onEvent));
  try {
    const measured = await measure(source, { most, examples, onEvent });
    const page = resolve(out);
    await writeFile(page, statisticsPage(measured));
    if (json) {
      const splits = measured.splits.map(({ examples: _, ...numbers }) => numbers);
      return printJson({ ...measured, splits, page });
    }
    for (const { split, rows, read, corrupt, megapixels, distinctAnswers } of measured.splits) {
      console.log(
        `${split}: ${rows} rows, ${read} read, ${corrupt} corrupt; ${distinctAnswers} answers; ` +
          `${megapixels.median.toFixed(2)} megapixels at the median.`,
      );
    }
    console.log(`Page: ${page}`);
  } finally {
    await source.dispose();
  }
}
