/** What the last evaluation of every run of a part measured, as a table. */
import {
  type ComparedRun,
  formatPercent,
  type Html,
  html,
  numberIn,
  rowsOf,
} from '@saccade/report';
import type { MetricsRow } from '@saccade/run-store';
import type { ExperimentOutcome } from './experiment.ts';
import type { PartResult } from './run-experiment.ts';

/** A title, then a cell for each outcome. */
type OutcomeRow = readonly string[];

/** The cold start, then the runs in their order; a dash where nothing was measured. */
function outcomeRows(
  outcomes: readonly ExperimentOutcome[],
  runs: readonly ComparedRun[],
): readonly OutcomeRow[] {
  const [first] = runs;
  const before = first && rowsOf(first.metrics, 'evaluation').find(({ label }) => label === 'sft');
  return [
    ...(before === undefined ? [] : [['cold start', ...cells(outcomes, before)]]),
    ...runs.map(({ label, metrics }) => {
      const last = rowsOf(metrics, 'evaluation').findLast((row) => row.label !== 'sft');
      return [label, ...cells(outcomes, last)];
    }),
  ];
}

function cells(
  outcomes: readonly ExperimentOutcome[],
  row: MetricsRow | undefined,
): readonly string[] {
  return outcomes.map(({ metric, unit }) => {
    const value = row === undefined ? Number.NaN : numberIn(row, metric);
    if (!Number.isFinite(value)) return '–';
    return unit === 'share' ? formatPercent(value) : value.toFixed(2);
  });
}

/** The table of a part in Markdown. */
export function outcomeTable({ part, runs }: PartResult): string {
  const { outcomes = [] } = part;
  const rows = [['run', ...outcomes.map(({ title }) => title)], ...outcomeRows(outcomes, runs)];
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  const rule = line(head.map((_, column) => '-'.repeat(widths?.[column] ?? 3)));
  return [line(head), rule, ...body.map(line)].join('\n');
}

/** The table of a part for the page; nothing where the part asks for none. */
export function drawOutcomes({ part, runs }: PartResult): Html | undefined {
  const { outcomes = [] } = part;
  if (outcomes.length === 0) return undefined;
  const rows = outcomeRows(outcomes, runs);
  return html`<h3>After training</h3>
<div class="scroll"><table><thead><tr><th>run</th>${outcomes.map(({ title }) => html`<th class="n">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([label = '', ...own]) =>
      html`<tr><th>${label}</th>${own.map((cell) => html`<td class="n">${cell}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}
