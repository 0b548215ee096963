/** `saccade data stats`: a page of numbers and examples. */
import { writeFile } from 'node:fs/promises';
import { DataSource, measure, statisticsPage } from '@saccade/datasets';
import { sourceContext, sourceOf } from './data-source.ts';
import { printJson } from './json.ts';
import { outputFile } from './output-file.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface DataStatsFlags {
  readonly set?: readonly string[];
  readonly most: number;
  readonly examples: number;
  readonly out?: string;
  readonly json?: boolean;
}

export async function measureData(from: string, flags: DataStatsFlags): Promise<void> {
  const { set, most, examples, out = 'statistics.html', json } = flags;
  const page = outputFile(out);
  const onEvent = terminalProgress({ stream: process.stderr });
  const source = await DataSource.open(sourceOf(from, set), sourceContext(onEvent));
  try {
    const measured = await measure(source, { most, examples, onEvent });
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
