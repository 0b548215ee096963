/** Puts lines of text into the rows and columns of a table, by where they are. */
import type { Word } from './words.ts';

type Cell = Pick<Word, 'text' | 'box'>;

/** A table that was read. */
export interface ReadTable {
  /** Lines that span the table, such as its title. */
  readonly titles: readonly string[];
  /** Rows of as many cells as there are columns; empty where there is no text. */
  readonly rows: readonly (readonly string[])[];
}

/**
 * Lines whose middles are at most `rowTolerance` pixels apart are one row; what overlaps from left to
 * right is one column.
 */
export function tableOf(words: readonly Cell[], rowTolerance: number): ReadTable {
  const rows = rowsOf(words, rowTolerance);
  const full = rows.filter((row) => row.length > 1);
  if (full.length === 0) return { titles: rows.flatMap(textsOf), rows: [] };
  const columns = columnsOf(full.flat());
  const titles: string[] = [];
  const body: (readonly string[])[] = [];
  for (const row of rows) {
    if (row.length === 1 && body.length === 0 && spans(row, columns)) titles.push(...textsOf(row));
    else body.push(columns.map((column) => textIn(row, column)));
  }
  return { titles, rows: body };
}

/** A table in Markdown; its first row is the head. */
export function markdownOf({ titles, rows }: ReadTable): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const [head, ...body] = rows;
  if (head === undefined) return titles.join('\n');
  const rule = `|${head.map(() => ' --- |').join('')}`;
  return [...titles, line(head), rule, ...body.map(line)].join('\n');
}

interface Span {
  readonly left: number;
  readonly right: number;
}

const middleOf = ({ box: [, top, , bottom] }: Cell): number => (top + bottom) / 2;
const spanOf = ({ box: [left, , right] }: Cell): Span => ({ left, right });
const textsOf = (row: readonly Cell[]): readonly string[] => row.map(({ text }) => text);
const meets = (a: Span, b: Span): boolean => a.left < b.right && b.left < a.right;

function rowsOf(words: readonly Cell[], rowTolerance: number): readonly (readonly Cell[])[] {
  const rows: Cell[][] = [];
  for (const word of [...words].sort((a, b) => middleOf(a) - middleOf(b))) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (first !== undefined && middleOf(word) - middleOf(first) <= rowTolerance) row?.push(word);
    else rows.push([word]);
  }
  return rows.map((row) => row.sort((a, b) => a.box[0] - b.box[0]));
}

/** Runs of overlapping cells, narrow ones first, so that a wide one does not join two columns. */
function columnsOf(cells: readonly Cell[]): readonly Span[] {
  const width = ({ left, right }: Span): number => right - left;
  let columns: Span[] = [];
  for (const span of cells.map(spanOf).sort((a, b) => width(a) - width(b))) {
    const touched = columns.filter((column) => meets(column, span));
    if (touched.length > 1) continue;
    const [column = span] = touched;
    const joined = {
      left: Math.min(column.left, span.left),
      right: Math.max(column.right, span.right),
    };
    // A column that grows into its neighbor would be both.
    const others = columns.filter((one) => one !== column);
    if (others.some((one) => meets(one, joined))) continue;
    columns = [...others, joined];
  }
  return columns.sort((a, b) => a.left - b.left);
}

function spans(row: readonly Cell[], columns: readonly Span[]): boolean {
  const [cell] = row;
  return (
    cell !== undefined &&
    (columns.filter((column) => meets(column, spanOf(cell))).length !== 1 ||
      columns.every((column) => cell.box[2] - cell.box[0] > column.right - column.left))
  );
}

/** The texts of a row whose best column this is. */
function textIn(row: readonly Cell[], column: Span): string {
  return row
    .filter((cell) => shared(spanOf(cell), column) > 0.5)
    .map(({ text }) => text)
    .join(' ');
}

/** The share of a span that lies in another. */
function shared(span: Span, other: Span): number {
  const inside = Math.min(span.right, other.right) - Math.max(span.left, other.left);
  return inside / Math.max(span.right - span.left, 1e-6);
}
