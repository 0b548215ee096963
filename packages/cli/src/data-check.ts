/** `saccade data check`: reads every row, and names those that cannot be used. */
import { checkSource } from '@saccade/datasets';
import { sourceContext, sourceOf } from './data-source.ts';
import { printJson } from './json.ts';
import { printTable } from './table.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface DataCheckFlags {
  readonly set?: readonly string[];
  readonly json?: boolean;
}

export async function checkData(from: string, { set, json }: DataCheckFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const settings = sourceOf(from, set);
  const checked = await checkSource(settings, sourceContext(onEvent));
  const { rows, corrupt, problems, name, license, format, mapping } = checked;
  const isFine = corrupt <= Math.floor(settings.maxCorruptShare * rows);
  if (!isFine) process.exitCode = 1;
  if (json) return printJson({ ...checked, isFine });
  console.log(`${name}: ${rows} rows of ${format}, mapped by ${mapping}, license ${license}.`);
  if (problems.length > 0) {
    printTable([['row', 'problem'], ...problems.map(({ address, problem }) => [address, problem])]);
  }
  const share = ((100 * corrupt) / Math.max(1, rows)).toFixed(2);
  const limit = `${100 * settings.maxCorruptShare} % may be`;
  console.log(`${corrupt} rows (${share} %) cannot be used; ${limit}.`);
}
