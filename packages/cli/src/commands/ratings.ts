/** The options of `saccade ratings`. */
import { Option } from 'commander';
import type { RatingsExportFlags, RatingsImportFlags } from '../ratings.ts';
import { wholeNumber } from '../shared.ts';
import type { LazyCommand } from './lazy-command.ts';

export function addRatings(program: LazyCommand): void {
  const ratings = program
    .command('ratings')
    .description('Have people rate trajectories, blind: export pages, import what they gave.');
  ratings
    .command('export')
    .description('Write a page and CSV files for raters, and the key that they must not see.')
    .argument('<directories...>', 'evaluations, or runs that keep trajectories')
    .requiredOption('--out <directory>', 'rate.html, rate-<rater>.csv, and key.json')
    .addOption(
      new Option('--mode <mode>', 'two models side by side, or one at a time on a scale')
        .choices(['pairs', 'single'])
        .default('pairs'),
    )
    .option('--raters <names>', 'names of the raters, separated by commas', '1,2')
    .option('--count <n>', 'tasks, drawn at random (default: all)', wholeNumber)
    .option('--suite <name>', 'suite of the evaluations (default: their only one)')
    .option('--of <file>', 'of a run: a file of trajectories/ without .jsonl')
    .option('--seed <n>', 'seed of the choice of tasks, of orders and of sides', wholeNumber, 0)
    .option('--title <text>', 'heading of the page')
    .option('--criterion <text>', 'the question that raters answer')
    .addHelpText('after', exportHelp)
    .action(async (directories: readonly string[], flags: RatingsExportFlags) =>
      (await import('../ratings.ts')).exportStudy(directories, flags),
    );
  ratings
    .command('import')
    .description('Read files of ratings: agreement of raters, win rates, means.')
    .argument('<files...>', 'what the page downloaded, or CSV files that were filled')
    .option('--key <file>', 'key.json of the export (default: beside the first file)')
    .option('--out <directory>', 'also write the tables: CSV, JSON, LaTeX and Markdown')
    .option('--seed <n>', 'seed of intervals', wholeNumber, 0)
    .option('--json', 'print JSON instead of tables')
    .addHelpText('after', importHelp)
    .action(async (files: readonly string[], flags: RatingsImportFlags) =>
      (await import('../ratings.ts')).importRatings(files, flags),
    );
}

const exportHelp = `
Examples:
  saccade ratings export evaluations/sft evaluations/rl --suite needle --out study
  saccade ratings export runs/seed1 runs/seed2 --of evaluation-final --count 20 --out study
  saccade ratings export evaluations/rl --mode single --raters anna,ben --out study

Send rate.html to the raters. It needs nothing else, keeps what they gave in their browser, and gives
each of them a file to send back. Order and sides differ from rater to rater. Keep key.json: it says
which model is which.`;

const importHelp = `
Examples:
  saccade ratings import study/ratings-*.json --key study/key.json
  saccade ratings import one.csv two.csv --key study/key.json --out study/results

Agreement is Cohen's kappa. Win rates count a tie half; intervals resample tasks, and p is of a
sign-flip test over tasks, adjusted for the number of pairs.`;
