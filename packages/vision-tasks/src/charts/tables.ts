/** The real tables that charts are drawn from, with their rows separated by split. */
import { readFileSync } from 'node:fs';
import type { Split } from '@saccade/gym';

/** A table of real numbers: one row per entity, one column per year, or a single unnamed column. */
export interface Table {
  readonly id: string;
  /** The file it comes from; SOURCES.md has its license. */
  readonly source: string;
  readonly measure: string;
  /** The measure of one row, which stands for `{}`. */
  readonly of: string;
  readonly unit: string;
  /** The noun for a row, singular and plural. */
  readonly row: readonly [string, string];
  /** Whether a sum over rows means something. */
  readonly isAdditive: boolean;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/** Countries that have an article. */
const withArticle: ReadonlySet<string> = new Set([
  'Bahamas',
  'Dominican Republic',
  'Netherlands',
  'Philippines',
  'United Kingdom',
  'United States',
]);

/** The name of a row within a sentence. */
export const inWords = (row: string): string => (withArticle.has(row) ? `the ${row}` : row);

/** The measure of one row within a sentence. */
export const measureOf = ({ of }: Table, row: string): string => of.replace('{}', inWords(row));

/** A measure with its indefinite article. */
export const oneOf = ({ measure }: Table): string =>
  `${/^[aeiou]/.test(measure) ? 'an' : 'a'} ${measure}`;

/** A number with the unit of a table. */
export const amountOf = ({ unit }: Table, value: number | string): string =>
  `${value} ${unit === 'millions' ? 'million' : unit}`;

interface TablesFile {
  readonly heldOut: readonly string[];
  readonly tables: readonly Table[];
}

let file: TablesFile | undefined;

/** The tables with only the rows of a split. A name is in one split, whichever table it is in. */
export function tablesOf(split: Split): readonly Table[] {
  file ??= JSON.parse(
    readFileSync(new URL('../../data/tables.json', import.meta.url), 'utf8'),
  ) as TablesFile;
  const heldOut = new Set(file.heldOut);
  return file.tables.map((table) => ({
    ...table,
    rows: table.rows.filter(({ name }) => heldOut.has(name) === (split === 'heldOut')),
  }));
}
