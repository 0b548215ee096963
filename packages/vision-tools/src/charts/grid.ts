/** The table of a chart as lines of text. */
import type { ReadChart } from './chart-reading.ts';

/** A table with its head; every row has as many cells as the head. */
export interface Grid {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Where no mark was seen. */
const missing = '-';

/** A number without an exponent up to 1e15, as it was rounded when it was read. */
export function numberText(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** The table of a chart; a scatter plot has a row for every point. */
export function gridOf({ table, xTitle, yTitle }: ReadChart): Grid {
  if (table.kind === 'scatter') {
    const isGrouped = table.series.length > 1;
    const head = [xTitle ?? 'x', yTitle ?? 'y'];
    const rows = table.points.flatMap((points, index) =>
      points.map(({ x, y }) => [
        ...(isGrouped ? [table.series[index]?.name ?? ''] : []),
        numberText(x),
        numberText(y),
      ]),
    );
    return { head: isGrouped ? ['Series', ...head] : head, rows };
  }
  const names = table.series.map(({ name }) => name);
  const rows = table.rows.map((row, index) => [
    row,
    ...(table.cells[index] ?? []).map((cell) => (cell === null ? missing : numberText(cell.value))),
  ]);
  return { head: [rowTitle({ table, xTitle, yTitle }), ...names], rows };
}

/** The name of the rows: the title of the axis that they stand at. */
export function rowTitle({
  table,
  xTitle,
  yTitle,
}: Pick<ReadChart, 'table' | 'xTitle' | 'yTitle'>): string {
  const title = table.isHorizontal ? yTitle : xTitle;
  return (table.kind === 'pie' ? null : title) ?? 'Category';
}

/** The name of the values: the title of the axis that measures them, or of the single series. */
export function valueTitle({ table, xTitle, yTitle }: ReadChart): string {
  if (table.kind === 'pie') return 'Share (%)';
  return (table.isHorizontal ? xTitle : yTitle) ?? 'value';
}

/** A text without the signs that would end a cell or a row. */
function cell(text: string, signs: RegExp): string {
  return text.replaceAll(signs, ' ').replaceAll(/\s+/g, ' ').trim();
}

/** UniChart's linear table: cells are separated by ` | `, rows by ` & `. */
export function linearTable({ head, rows }: Grid): string {
  return [head, ...rows]
    .map((row) => row.map((text) => cell(text, /[|&\n]/g)).join(' | '))
    .join(' & ');
}

/** DePlot's linear table: the title first, cells separated by ` | `, rows by ` <0x0A> `. */
export function deplotTable(title: string | null, { head, rows }: Grid): string {
  return [['TITLE', title ?? ''], head, ...rows]
    .map((row) => row.map((text) => cell(text, /[|\n]|<0x0A>/g)).join(' | '))
    .join(' <0x0A> ');
}

/** A table in Markdown. */
export function markdownTable({ head, rows }: Grid): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => cell(text, /[|\n]/g)).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
