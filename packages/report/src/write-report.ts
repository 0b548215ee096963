/** `report.html` of a run, made from its directory alone: it can be made again at any time. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import { nodeFileSystem, writeDurably } from '@saccade/run-store';
import { drawPage } from './page.ts';
import { readRun } from './read-run.ts';

/**
 * Writes the report of a run, whatever of it is there so far.
 *
 * @returns path of the page
 * @throws DataError if there is no such directory
 */
export async function writeReport(runDirectory: string): Promise<string> {
  if (!existsSync(runDirectory)) {
    throw new DataError(`There is no run directory ${runDirectory}. Give the path of a run.`);
  }
  const page = await drawPage(await readRun(runDirectory));
  const path = join(runDirectory, 'report.html');
  // Aside and renamed: a page that somebody has open is whole, before and after.
  writeDurably(nodeFileSystem, path, page);
  return path;
}
