/** The options of `saccade curves`. */
import { Argument } from 'commander';
import type { CurvesFlags } from '../curves.ts';
import { collect } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addCurves(program: LazyCommand): void {
  const runs = new Argument('<runs...>');
  program
    .command('curves')
    .description('Put runs side by side: a table here, their curves in one SVG image.')
    .addArgument(runs)
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
    .before('help', async () => {
      const { MOST_RUNS } = await import('@saccade/report');
      runs.description = `run directories, at most ${MOST_RUNS}`;
    })
    .action(async (runs: string[], flags: CurvesFlags) =>
      (await import('../curves.ts')).drawCurves(runs, flags),
    );
}
