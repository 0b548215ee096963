/** The options of `saccade report`. */
import { resolve } from 'node:path';
import type { ReportFlags } from '../report.ts';
import { more, wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';
import { jsonOption } from './options.ts';

export function addReport(program: LazyCommand): void {
  program
    .command('report')
    .description('Write the page of a run, or of evaluations side by side.')
    .argument('<paths...>', 'a run directory, or any number of evaluations')
    .option('--out <directory>', 'of evaluations: comparison.html and tables/ (default: the first)')
    .option('--suite <name>', 'of evaluations: only this suite; may be repeated', more)
    .option(
      '--tasks <n>',
      'of evaluations: tasks shown turn by turn, of each suite',
      wholeNumber,
      12,
    )
    .option('--title <text>', 'of evaluations: heading of the page')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  saccade report runs/pyvision-image-nano-seed1
  saccade report evaluations/sft evaluations/rl --out comparison
  saccade report evaluations/* --suite needle --suite turned-needle --out comparison

Evaluations are what saccade eval --suite wrote. Their page has accuracy with intervals, models compared
task by task, curves, slices, errors, and the same tasks side by side with filters. Every table is also
written as CSV, JSON, LaTeX and Markdown.`,
    )
    .action(async (paths: readonly string[], flags: ReportFlags) =>
      (await import('../report.ts')).report(
        paths.map((path) => resolve(path)),
        flags,
      ),
    );
}
