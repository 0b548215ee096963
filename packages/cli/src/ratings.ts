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
import { formatTable } from './table.ts';

export interface RatingsExportFlags {
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

export interface RatingsImportFlags {
  readonly key?: string;
  readonly out?: string;
  readonly seed: number;
  readonly json?: boolean;
}

const criteria: Readonly<Record<StudyMode, string>> = {
  pairs: 'Which one found the answer by looking at the right place?',
  single: 'How well do the images that the model looked at support its answer?',
};

export async function exportStudy(
  directories: readonly string[],
  flags: RatingsExportFlags,
): Promise<void> {
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

export async function importRatings(
  files: readonly string[],
  flags: RatingsImportFlags,
): Promise<void> {
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
