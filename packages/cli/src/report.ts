/** `saccade report`: writes a run's report.html again. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DataError } from '@saccade/core';
import { writeReport } from '@saccade/report';
import { describeDamage, inspectRun } from '@saccade/run-store';
import type { Command } from 'commander';
import { jsonOption, printJson } from './json.ts';
import { say } from './say.ts';

export function addReport(program: Command): void {
  program
    .command('report')
    .description('Write report.html of a run from its directory.')
    .argument('<run>', 'a run directory')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  saccade report runs/pyvision-image-nano-seed1')
    .action(async (run: string, { json }: { readonly json?: boolean }) => {
      const directory = resolve(run);
      expectRun(directory);
      const page = await writeReport(directory);
      const { damage } = await inspectRun(directory, { skips: ['checkpoints'] });
      if (json) return printJson({ report: page, damage: damage.map(describeDamage) });
      for (const one of damage) console.error(describeDamage(one));
      say(`Report: ${page}`);
    });
}

/** @throws DataError for what is no run: a page is written only beside a run's own files */
function expectRun(directory: string): void {
  if (!existsSync(directory)) {
    throw new DataError(`There is no run directory ${directory}. Give the path of a run.`);
  }
  if (!statSync(directory).isDirectory()) {
    throw new DataError(`${directory} is a file. Give the directory of a run.`);
  }
  if (['config.json', 'metrics.jsonl'].some((file) => existsSync(join(directory, file)))) return;
  throw new DataError(
    `${directory} holds no run: it has neither config.json nor metrics.jsonl. Check the path.`,
  );
}
