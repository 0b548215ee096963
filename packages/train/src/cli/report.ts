/** `saccade report`: writes a run's report.html again. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { writeReport } from '../report/write-report.ts';

export function addReport(program: Command): void {
  program
    .command('report')
    .description('Write report.html of a run from its directory.')
    .argument('<run>', 'a run directory')
    .action(async (run: string) => {
      console.log(`Report: ${await writeReport(resolve(run))}`);
    });
}
