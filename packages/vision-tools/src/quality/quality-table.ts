/** Reports of quality as a table in Markdown. */
import type { QualityReport, Spread } from './quality.ts';

const head = '| tool | arguments | backed by | cases | ms p50 / p95 | CPU ms p50 / p95 | quality |';

/** One row for each tool. */
export function qualityTable(reports: readonly QualityReport[]): string {
  const rows = reports.map((one) => {
    const scores = Object.entries(one.scores).map(
      ([name, { mean, cases }]) =>
        `${name} ${mean.toFixed(3)}${cases === one.cases ? '' : ` (${cases})`}`,
    );
    const cells = [
      `\`${one.tool}\``,
      one.arguments.map((name) => `\`${name}\``).join(', '),
      one.backing,
      String(one.cases),
      spread(one.ms),
      spread(one.cpuMs),
      scores.join(', '),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [head, '| --- | --- | --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** Whole from ten on, and with two digits below. */
function milliseconds(value: number): string {
  return value >= 10 ? value.toFixed(0) : `${Number(value.toPrecision(2))}`;
}

function spread({ p50, p95 }: Spread): string {
  return `${milliseconds(p50)} / ${milliseconds(p95)}`;
}

/**
 * The page of results with the rows of these reports, and the rows of other tools as they were.
 *
 * @param before   the page so far; empty for none
 * @param machine  what the calls were measured on
 */
export function mergeRows(
  before: string,
  reports: readonly QualityReport[],
  machine: string,
): string {
  const rowsOf = (text: string): readonly string[] =>
    text.split('\n').filter((line) => line.startsWith('| `'));
  const nameOf = (row: string): string => row.split('`')[1] ?? '';
  const rows = new Map(rowsOf(before).map((row) => [nameOf(row), row]));
  for (const row of rowsOf(qualityTable(reports))) rows.set(nameOf(row), row);
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return [
    '# Quality of the visual tools',
    '',
    'Written by `node bin/quality.js --write`. Cases are drawn, so their truth is known; scores run from',
    '0 to 1 and are means over the cases, or over as many as stand in brackets. Milliseconds are of the',
    'work of one call at a time, in one process: by the clock, which other work on the machine slows, and',
    'of its processors, as far as a process of its own does it. Calls with an image that the suite has',
    'shown before are not timed: some tools remember the last ones. `right`, `wrong` and `declined` are',
    `shares of the questions that have an answer. Measured on ${machine}.`,
    '',
    qualityTable([]),
    ...sorted,
    '',
  ].join('\n');
}
