/** The forms in which a table leaves the page: CSV, JSON, LaTeX and Markdown. */
import Papa from 'papaparse';
import { type CellValue, formatCell, type Table, type TableColumn } from './table.ts';

/** Every form of a table, by the ending of its file. */
export const tableFormats = ['csv', 'json', 'tex', 'md'] as const;

/** The ending of a table's file. */
export type TableFormat = (typeof tableFormats)[number];

/** A table in one of its forms. */
export function writeTable(table: Table, format: TableFormat): string {
  if (format === 'csv') return tableCsv(table);
  if (format === 'json') return tableJson(table);
  return format === 'tex' ? tableLatex(table) : tableMarkdown(table);
}

/**
 * Rows of text as CSV (RFC 4180). A cell that a spreadsheet would run as a formula (`=`, `+`, `-`, `@`
 * or a control character first) gets an apostrophe before it, so that text of a model stays text.
 */
export function writeCsv(rows: readonly (readonly (string | number)[])[]): string {
  return `${Papa.unparse(rows as (string | number)[][], { escapeFormulae: formula })}\r\n`;
}

/** Also characters that spreadsheets skip before they look for a formula. */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

/** Measured values, not rounded; a number with an interval has its ends in two columns more. */
function tableCsv({ columns, rows }: Table): string {
  const head = columns.flatMap(({ key, hasInterval }) =>
    hasInterval === true ? [key, `${key}_low`, `${key}_high`] : [key],
  );
  const body = rows.map((row) =>
    columns.flatMap(({ hasInterval }, index) => {
      const value = row[index];
      if (hasInterval !== true) return [typeof value === 'object' ? value.estimate : (value ?? '')];
      if (typeof value === 'object') return [value.estimate, value.low, value.high];
      return [value ?? '', '', ''];
    }),
  );
  return writeCsv([head, ...body]);
}

/** One object a row, by the keys of the columns; null for what was not measured. */
function tableJson({ name, title, about, columns, rows }: Table): string {
  const body = rows.map((row) =>
    Object.fromEntries(columns.map(({ key }, index) => [key, row[index] ?? null])),
  );
  return `${JSON.stringify({ name, title, about, rows: body }, null, 2)}\n`;
}

/** A GitHub-flavored table below its title. */
function tableMarkdown({ title, about, columns, rows }: Table): string {
  const lines = [
    columns.map(({ title: heading }) => heading),
    columns.map(({ kind }) => (kind === 'text' ? '---' : '--:')),
    ...rows.map((row) => columns.map((column, index) => cellText(row[index], column))),
  ].map((cells, index) => {
    const written = index === 1 ? cells : cells.map(escapeMarkdown);
    return `| ${written.join(' | ')} |`;
  });
  return `**${escapeMarkdown(title)}.** ${escapeMarkdown(about)}\n\n${lines.join('\n')}\n`;
}

/** A `table` with booktabs' rules. */
function tableLatex({ name, title, about, columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `${cells.map(escapeLatex).join(' & ')} \\\\`;
  return `${[
    '% \\usepackage{booktabs}',
    '\\begin{table}',
    '\\centering',
    `\\caption{${escapeLatex(`${title}. ${about}`)}}`,
    `\\label{tab:${name.replaceAll(/[^\w-]/g, '-')}}`,
    `\\begin{tabular}{${columns.map(({ kind }) => (kind === 'text' ? 'l' : 'r')).join('')}}`,
    '\\toprule',
    line(columns.map(({ title: heading }) => heading)),
    '\\midrule',
    ...rows.map((row) => line(columns.map((column, index) => cellText(row[index], column)))),
    '\\bottomrule',
    '\\end{tabular}',
    '\\end{table}',
  ].join('\n')}\n`;
}

function cellText(value: CellValue, { kind }: TableColumn): string {
  return formatCell(value, kind);
}

/** Text that is neither markup nor HTML, on one line. */
function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*_{}[\]()#+!|~$]/g, '\\$&')
    .replace(/\b(https?|ftp|mailto|javascript|data|www)([:.])/gi, '$1\\$2');
}

const latexNames: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '"': '\\textquotedbl{}',
  '–': '--',
  '−': '$-$',
};

/** Text without commands: also not in what follows a backslash. */
function escapeLatex(text: string): string {
  return oneLine(text).replace(/[\\~^<>|"–−{}$&#%_]/g, (sign) => latexNames[sign] ?? `\\${sign}`);
}

/** Line breaks and control characters would end a row, or a comment. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
