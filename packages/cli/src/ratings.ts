/** `saccade ratings`: blind human ratings, out as a page and CSV files, back in as numbers. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DataError, messageOf } from '@saccade/core';
import {
  drawRatingCsv,
  drawRatingPage,
  measureRatings,
  openSource,
  parseStudyKey,
  planStudy,
  ratedIn,
  ratingTables,
  readRatings,
  type StudyMode,
} from '@saccade/ratings';
import { formatCell, type Table, writeTables } from '@saccade/report';
import { makeDirectories, nodeFileSystem, writeDurably } from '@saccade/run-store';
import { type Command, Option } from 'commander';
import { wholeNumber } from './shared.ts';
import { formatTable } from './table.ts';

interface ExportFlags {
  readonly out: string;
  readonly mode: StudyMode;
  readonly raters: string;
  readonly seed: number;
  readonly count?: number;
  readonly suite?: string;
  readonly of?: string;
  readonly title?: string;
  readonly criterion?: string;
}

interface ImportFlags {
  readonly key?: string;
  readonly out?: string;
  readonly seed: number;
  readonly json?: boolean;
}

const criteria: Readonly<Record<StudyMode, string>> = {
  pairs: 'Which one found the answer by looking at the right place?',
  single: 'How well do the images that the model looked at support its answer?',
};

export function addRatings(program: Command): void {
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
    .action((directories: readonly string[], flags: ExportFlags) =>
      exportStudy(directories, flags),
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
    .action((files: readonly string[], flags: ImportFlags) => importRatings(files, flags));
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

async function exportStudy(directories: readonly string[], flags: ExportFlags): Promise<void> {
  const { mode, seed, count, suite, of } = flags;
  const sources = directories.map((directory) => {
    const path = resolve(directory);
    if (!existsSync(path)) {
      throw new DataError(`There is no directory ${path}. Give an evaluation or a run.`);
    }
    return openSource(path, {
      ...(suite !== undefined && { suite }),
      ...(of !== undefined && { of }),
    });
  });
  const { rated, find } = ratedIn(sources);
  const key = planStudy(rated, {
    mode,
    title: flags.title ?? 'How well did the models look?',
    criterion: flags.criterion ?? criteria[mode],
    raters: flags.raters.split(',').map((name) => name.trim()),
    seed,
    ...(count !== undefined && { count }),
  });
  const out = resolve(flags.out);
  if (existsSync(join(out, 'key.json'))) {
    throw new DataError(
      `${join(out, 'key.json')} is there already, and without it its ratings say nothing. Choose ` +
        'another --out, or move it away.',
    );
  }
  makeDirectories(nodeFileSystem, out);
  const write = (name: string, text: string): void =>
    writeDurably(nodeFileSystem, join(out, name), text);
  // The key last: a study that has one is whole.
  write('rate.html', await drawRatingPage(key, find));
  for (const rater of Object.keys(key.orders)) {
    write(`rate-${rater}.csv`, await drawRatingCsv(key, rater, find));
  }
  write('key.json', `${JSON.stringify(key, null, 2)}\n`);
  for (const gap of sources.flatMap(({ gaps }) => gaps)) console.error(gap);
  const raters = Object.keys(key.orders).length;
  console.log(`${key.items.length} items of ${key.models.length} models for ${raters} raters.`);
  console.log(`Page: ${join(out, 'rate.html')}\nKey, not for raters: ${join(out, 'key.json')}`);
}

async function importRatings(files: readonly string[], flags: ImportFlags): Promise<void> {
  const path = resolve(flags.key ?? join(dirname(files[0] ?? ''), 'key.json'));
  const key = parseStudyKey(readText(path), path);
  const ratings = files.flatMap((file) => readRatings(readText(resolve(file)), key, file));
  const twice = ratings.find(
    (one, index) =>
      ratings.findIndex(({ rater, item }) => rater === one.rater && item === one.item) < index,
  );
  if (twice !== undefined) {
    throw new DataError(
      `Two files have ratings of rater ${twice.rater} for item ${twice.item}. Give each file once.`,
    );
  }
  const results = measureRatings(key, ratings, { seed: flags.seed });
  const tables = ratingTables(results);
  if (flags.out !== undefined) writeTables(resolve(flags.out), tables);
  if (flags.json) {
    console.log(JSON.stringify(results, null, 2));
    return;
  }
  for (const [index, table] of tables.entries()) {
    if (index > 0) console.log('');
    for (const line of describeTable(table)) console.log(line);
  }
  if (flags.out !== undefined) console.log(`\nTables: ${resolve(flags.out)}`);
}

/** @throws DataError with the reason for a file that cannot be read */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new DataError(`${path} cannot be read: ${messageOf(error)}. Check the path.`);
  }
}

/** A table for the terminal. */
function describeTable({ title, about, columns, rows }: Table): readonly string[] {
  const cells = rows.map((row) => columns.map(({ kind }, index) => formatCell(row[index], kind)));
  return [title, about, '', ...formatTable([columns.map((column) => column.title), ...cells])];
}
