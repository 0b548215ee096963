/** Tables of the terminal. */
import { columnsOf, fold } from './say.ts';

/** Columns that the last one of a table needs. */
const LEAST_LAST = 16;

/** Columns as wide as their widest cell; the last is not padded, and folded where it is too long. */
export function formatTable(
  rows: readonly (readonly string[])[],
  columns: number = columnsOf(process.stdout),
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  if (before + LEAST_LAST > columns) return rows.flatMap((row) => stack(row, columns));
  return rows.flatMap((row) => {
    const cells = row.slice(0, widths.length - 1);
    const start = cells.map((cell, column) => `${cell.padEnd(widths[column] ?? 0)}  `).join('');
    const last = row[widths.length - 1] ?? '';
    const isFitting = before + last.length <= columns;
    const [first = '', ...rest] = isFitting ? [last] : fold(last, columns - before);
    return [(start + first).trimEnd(), ...rest.map((part) => ' '.repeat(before) + part)];
  });
}

/** Cells below each other, for a terminal that has no room for columns. */
function stack([first = '', ...rest]: readonly string[], columns: number): readonly string[] {
  const words = rest.filter((cell) => cell.trim() !== '').map((cell) => cell.trim());
  const folded = words.length === 0 ? [] : fold(words.join(' · '), columns - 4);
  return [...(first.trim() === '' ? [] : [first]), ...folded.map((line) => `    ${line}`)];
}

export function printTable(rows: readonly (readonly string[])[]): void {
  for (const line of formatTable(rows)) console.log(line);
}

/** A table whose first column is text and whose others are numbers, which end below each other. */
export function printNumbers(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const all = [titles, ...rows];
  const widths = titles.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  );
  printTable(
    all.map((row) =>
      row.map((cell, column) => (column === 0 ? cell : cell.padStart(widths[column] ?? 0))),
    ),
  );
}
