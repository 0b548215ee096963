/** `saccade report`: writes a run's report.html again. */
import { resolve } from 'node:path';
import { writeReport } from '@saccade/report';
import { describeDamage, inspectRun } from '@saccade/run-store';
import type { Command } from 'commander';

export function addReport(program: Command): void {
  program
    .command('report')
    .description('Write report.html of a run from its directory.')
    .argument('<run>', 'a run directory')
    .action(async (run: string) => {
      const page = await writeReport(resolve(run));
      const { damage } = await inspectRun(resolve(run), { skips: ['checkpoints'] });
      for (const one of damage) console.error(describeDamage(one));
      console.log(`Report: ${page}`);
    });
}
