/** Files of ratings: what the page and a filled-in CSV file hand back. */
import { DataError } from '@saccade/core';
import Papa from 'papaparse';
import { z } from 'zod';
import type { StudyKey } from './study.ts';

/** One rating as it was shown: sides are those of the page. */
export interface Rating {
  readonly rater: string;
  /** Blind id of the item. */
  readonly item: string;
  /** A value of the study's choices. */
  readonly value: string;
  readonly comment: string;
}

const fileSchema = z.object({
  format: z.literal(1),
  kind: z.literal('ratings'),
  study: z.string(),
  rater: z.string(),
  ratings: z.record(z.string(), z.object({ value: z.string(), comment: z.string().default('') })),
});

/** Columns of a file that a person may fill in a spreadsheet. */
export const ratingColumns = ['study', 'rater', 'item', 'rating', 'comment'] as const;

/**
 * Reads a file of ratings, JSON from the page or CSV, and checks it against the key.
 *
 * Items without a rating are left out. A comment may hold anything.
 *
 * @param where the file's name, for messages
 * @throws DataError naming the file, the row, what came and what was expected
 */
export function readRatings(text: string, key: StudyKey, where: string): readonly Rating[] {
  // Spreadsheets write a mark of byte order.
  const plain = text.replace(/^\uFEFF/, '');
  const read = plain.trimStart().startsWith('{') ? readJson(plain, where) : readCsv(plain, where);
  const items = new Set(key.items.map(({ id }) => id));
  const values = key.choices.map(({ value }) => value);
  const seen = new Set<string>();
  return read.map(({ study, row, ...rating }) => {
    const at = `${where}, ${row}`;
    if (study !== key.study) {
      throw new DataError(
        `${at}: it belongs to the study "${study}", the key to "${key.study}". Give the key that was ` +
          'exported with the page.',
      );
    }
    if (key.orders[rating.rater] === undefined) {
      const known = Object.keys(key.orders).join(', ');
      throw new DataError(`${at}: the study has no rater "${rating.rater}". It has ${known}.`);
    }
    if (!items.has(rating.item)) {
      throw new DataError(
        `${at}: the study has no item "${rating.item}". Restore the column item.`,
      );
    }
    const value = values.find((one) => one.toLowerCase() === rating.value.trim().toLowerCase());
    if (value === undefined) {
      throw new DataError(
        `${at}: expected a rating of ${values.join(', ')}, got "${rating.value}". Mend the cell, or ` +
          'leave it empty.',
      );
    }
    const name = JSON.stringify([rating.rater, rating.item]);
    if (seen.has(name)) {
      throw new DataError(
        `${at}: ${rating.rater} rates ${rating.item} twice. Keep one of the two.`,
      );
    }
    seen.add(name);
    return { ...rating, value };
  });
}

interface ReadRating extends Rating {
  readonly study: string;
  /** Its place, for messages. */
  readonly row: string;
}

function readJson(text: string, where: string): readonly ReadRating[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const message = `${where}: it is neither JSON nor CSV of ratings. Download it again.`;
    throw new DataError(message, { cause });
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new DataError(
      `${where}: ${issue?.path.join('.') || 'the file'} is not as the page writes it: ` +
        `${issue?.message}. Download it again.`,
    );
  }
  const { study, rater, ratings } = parsed.data;
  return Object.entries(ratings).map(([item, { value: given, comment }]) => ({
    ...{ study, rater, item, value: given, comment, row: `item ${item}` },
  }));
}

function readCsv(text: string, where: string): readonly ReadRating[] {
  const { data, errors, meta } = Papa.parse<Record<string, string>>(text, {
    header: true,
    skipEmptyLines: 'greedy',
    transformHeader: (name) => name.trim().toLowerCase(),
  });
  const missing = ratingColumns.find(
    (column) => column !== 'comment' && !meta.fields?.includes(column),
  );
  if (missing !== undefined) {
    throw new DataError(
      `${where}: the column "${missing}" is missing. Expected ${ratingColumns.join(', ')}; others may ` +
        'stay or go.',
    );
  }
  // A row with a cell too few has no comment, and one with a cell too many is broken.
  const broken = errors.find(({ code }) => code !== 'TooFewFields');
  if (broken !== undefined) {
    const row = (broken.row ?? 0) + 2;
    throw new DataError(`${where}, row ${row}: ${broken.message}. Save the file as CSV again.`);
  }
  return data.flatMap((cells, index): readonly ReadRating[] => {
    const { study = '', rater = '', item = '', rating = '', comment = '' } = cells;
    if (rating.trim() === '') return [];
    const names = { study: study.trim(), rater: rater.trim(), item: item.trim() };
    return [{ ...names, value: rating, comment, row: `row ${index + 2}` }];
  });
}
