/** Tables for a terminal or a text file: columns as wide as what is in them. */

export interface Column {
  readonly title: string;
  /** Numbers stand under each other at their end. */
  readonly align?: 'left' | 'right';
}

/** A column of numbers. */
export const right = (title: string): Column => ({ title, align: 'right' });

/** The rows under their titles; a line's end has no spaces. */
export function drawTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const widths = columns.map(({ title }, i) =>
    Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, i) => {
        const [cell, width] = [cells[i] ?? '', widths[i] ?? 0];
        return align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width));
  return [line(columns.map(({ title }) => title)), line(rule), ...rows.map(line)].join('\n');
}
