/** Writes the page of evaluations side by side, and every table of it in every form. */
import { join } from 'node:path';
import { makeDirectories, nodeFileSystem, writeDurably } from '@saccade/run-store';
import type { Table } from '../tables/table.ts';
import { tableFormats, writeTable } from '../tables/write-table.ts';
import { readSideBySide, type SideBySideOptions } from './read-side-by-side.ts';
import { drawSidePage, type SidePageOptions } from './side-page.ts';
import { sideTables } from './side-tables.ts';

/** Where the page and its tables were written. */
export interface WrittenSideBySide {
  readonly page: string;
  readonly tables: string;
  /** One sentence for each thing that could not be used. */
  readonly gaps: readonly string[];
}

/**
 * Compares evaluations and writes `<out>/comparison.html` and `<out>/tables/`.
 *
 * @throws ConfigError for no evaluation, or a suite that none of them has
 * @throws StoreError if an evaluation is damaged, or the files cannot be written
 */
export async function writeSideBySide(
  directories: readonly string[],
  out: string,
  options: SideBySideOptions & SidePageOptions = {},
): Promise<WrittenSideBySide> {
  const found = readSideBySide(directories, options);
  const page = join(out, 'comparison.html');
  const tables = join(out, 'tables');
  writeTables(tables, sideTables(found));
  // Aside and renamed: a page that somebody has open is whole, before and after.
  writeDurably(nodeFileSystem, page, await drawSidePage(found, options));
  return { page, tables, gaps: found.gaps };
}

/** Writes every form of some tables into a folder. */
export function writeTables(directory: string, tables: readonly Table[]): void {
  makeDirectories(nodeFileSystem, directory);
  for (const table of tables) {
    for (const format of tableFormats) {
      const path = join(directory, `${table.name.replaceAll(/[^\w.-]+/g, '-')}.${format}`);
      writeDurably(nodeFileSystem, path, writeTable(table, format));
    }
  }
}
