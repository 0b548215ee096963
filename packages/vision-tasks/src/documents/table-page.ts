/** Pages of real tables in small print, with questions about a cell. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import { amountOf, measureOf, oneOf, type Table } from '../charts/tables.ts';
import { Page } from '../rendering/page.ts';
import type { AskedDocument } from './document.ts';
import { type DocumentStyle, textWidth } from './document-style.ts';

/** Tables of a page, and rows of each, by density 1 to 5. */
const tablesOfLevel = [1, 1, 2, 3, 3] as const;
const rowsOfLevel = [8, 14, 16, 18, 30] as const;

/** A cell as it is printed. */
interface Cell {
  readonly table: Table;
  readonly row: string;
  readonly column: string;
  readonly text: string;
  readonly box: Box;
}

type Printed = AskedDocument['words'][number];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A page of tables; undefined where the drawn ones leave nothing to ask for sure. */
export function tablePage(
  tables: readonly Table[],
  style: DocumentStyle,
  level: number,
  random: Random,
): AskedDocument | undefined {
  const wide = tables.filter(({ columns }) => columns.length > 1);
  const chosen = random.shuffle(wide).slice(0, tablesOfLevel[level - 1]);
  const page = new Page(style.width, style.height);
  const words: Printed[] = [];
  const cells: Cell[] = [];
  const { height, margin, title, leading } = style;
  // Each table has its share of the page for a caption, a head and its rows.
  const share = (height - 2 * margin) / chosen.length;
  const fitting = Math.floor((share - title.size) / leading - 3.5);
  const most = Math.min(fitting, rowsOfLevel[level - 1] ?? rowsOfLevel[0]);
  let top = margin;
  for (const [index, table] of chosen.entries()) {
    const caption = `Table ${index + 1}. ${capital(table.measure)} (${table.unit})`;
    top += title.size;
    words.push({ text: caption, box: page.text(caption, margin, top, title) });
    const drawn = drawTable(page, table, top + leading * 0.6, most, style, random);
    if (drawn === undefined) return undefined;
    cells.push(...drawn.cells);
    words.push(...drawn.words);
    top = drawn.bottom + leading * 1.3;
  }
  const target = random.pick(cells);
  const { table, row, column, text, box } = target;
  const sources = chosen.map(({ source }) => source);
  const same = cells.filter((cell) => cell.table === table && cell.column === column);
  const owner = words.find((word) => word.text === capital(row) && isBeside(word.box, box));
  if (owner === undefined) return undefined;
  const evidence = [owner.box, box];
  if (random.integer(2) === 0) {
    const what = measureOf(table, row);
    const question = `According to the table, what is the ${what} in ${column}? Answer in ${table.unit}.`;
    return { page, operation: 'cell', question, answer: text, evidence, words, sources };
  }
  if (same.filter((cell) => cell.text === text).length > 1) return undefined;
  const question = `Which ${table.row[0]} has ${oneOf(table)} of ${amountOf(table, text)} in ${column}, according to the table?`;
  return { page, operation: 'row', question, answer: capital(row), evidence, words, sources };
}

/** Whether two boxes are on the same line. */
const isBeside = (a: Box, b: Box): boolean => Math.abs(a[3] - b[3]) < 1;

/** Draws some rows of a table; undefined where the page is too narrow for three columns. */
function drawTable(
  page: Page,
  table: Table,
  top: number,
  most: number,
  { margin, width, regular, bold, leading, isBanded }: DocumentStyle,
  random: Random,
): { cells: readonly Cell[]; words: readonly Printed[]; bottom: number } | undefined {
  const rows = random.shuffle(table.rows).slice(0, most);
  const names = Math.max(...rows.map(({ name }) => textWidth(capital(name), regular)));
  const values = rows.flatMap((row) => row.values.map((value) => value.toFixed(1)));
  const cellWidth =
    Math.max(...[...table.columns, ...values].map((text) => textWidth(text, bold))) + leading * 0.7;
  const room = Math.floor((width - 2 * margin - names - 12) / cellWidth);
  const columns = table.columns.slice(-room);
  const bottom = top + (rows.length + 1.3) * leading;
  if (columns.length < 3) return undefined;
  const right = margin + names + 12 + columns.length * cellWidth;
  const words: Printed[] = [];
  const cells: Cell[] = [];
  const head = top + leading;
  const print = (text: string, end: number, y: number, glyphs = regular) => {
    const box = page.text(text, end - textWidth(text, glyphs) - 6, y, glyphs);
    words.push({ text, box });
    return box;
  };
  for (const [index, column] of columns.entries()) {
    print(column, margin + names + 12 + (index + 1) * cellWidth, head, bold);
  }
  page.fill([margin, head + leading * 0.35, right, head + leading * 0.35 + 2], 0.8);
  for (const [index, { name, values: own }] of rows.entries()) {
    const y = head + (index + 1.1) * leading;
    const [upper, lower] = [y - leading * 0.72, y + leading * 0.28];
    if (isBanded && index % 2 === 1) page.fill([margin, upper, right, lower], 0.09);
    if (!isBanded) page.fill([margin, lower, right, lower + 1], 0.25);
    words.push({ text: capital(name), box: page.text(capital(name), margin + 4, y, regular) });
    for (const [place, column] of columns.entries()) {
      const text = (own[table.columns.indexOf(column)] ?? Number.NaN).toFixed(1);
      const box = print(text, margin + names + 12 + (place + 1) * cellWidth, y);
      cells.push({ table, row: name, column, text, box });
    }
  }
  return { cells, words, bottom };
}
