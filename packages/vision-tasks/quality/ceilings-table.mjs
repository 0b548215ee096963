/** Tables of ceilings within a page in Markdown, whose text others write. */

/** The tables: the line before each one, and the names of its columns. */
const tables = {
  all: {
    mark: '<!-- families -->',
    head: ['family', 'tasks', 'blind guess', 'glance', 'tool', 'the tool'],
  },
  level: {
    mark: '<!-- difficulties -->',
    head: ['family', 'difficulty', 'tasks', 'blind guess', 'glance', 'tool'],
  },
};

/** Rows of a family for both tables. Each score is `{ level, blind, glance, tool }`. */
export function rowsOf(family, uses, scores) {
  const levels = [...new Set(scores.map(({ level }) => level))].sort();
  const name = `\`${family}\``;
  return {
    all: [[name, ...sharesOf(scores), uses]],
    level: levels.map((level) => [
      name,
      level,
      ...sharesOf(scores.filter((score) => score.level === level)),
    ]),
  };
}

/** How many scores there are, and how many percent of them each way to answer gets right. */
function sharesOf(scores) {
  const percent = (key) => (100 * scores.filter((score) => score[key]).length) / scores.length;
  return [
    scores.length,
    ...['blind', 'glance', 'tool'].map((key) => `${percent(key).toFixed(0)} %`),
  ];
}

const cellsOf = (line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The lines of a table in Markdown: head, rule, and rows sorted by family, in columns of equal width. */
function tableOf({ head }, rows) {
  const sorted = [...rows].sort(([a], [b]) => Number(a > b) - Number(a < b));
  const widths = head.map((_, column) =>
    Math.max(...[head, ...sorted].map((cells) => String(cells[column]).length)),
  );
  const lineOf = (cells) =>
    `| ${cells.map((cell, at) => String(cell).padEnd(widths[at])).join(' | ')} |`;
  return [lineOf(head), lineOf(widths.map((width) => '-'.repeat(width))), ...sorted.map(lineOf)];
}

/** The rows as they stand on the page, for the screen. */
export function printed(rows) {
  return Object.entries(tables)
    .map(([key, table]) => tableOf(table, rows[key]).join('\n'))
    .join('\n\n');
}

/** The page with the rows of a family in both tables; the text and the rows of others stay. */
export function mergeCeilings(page, family, rows) {
  let lines = page.split('\n');
  for (const [key, table] of Object.entries(tables)) {
    const start = lines.indexOf(table.mark) + 1;
    if (start === 0) throw new Error(`The page has no line ${table.mark}.`);
    const after = lines.slice(start);
    const blank = after.findIndex((line, index) => index > 0 && !line.startsWith('|'));
    const end = blank < 0 ? after.length : blank;
    const before = after
      .slice(0, end)
      .filter((line) => line.startsWith('| `'))
      .map(cellsOf);
    const kept = before.filter(([name]) => name !== `\`${family}\``);
    const merged = tableOf(table, [...kept, ...rows[key]]);
    lines = [...lines.slice(0, start), '', ...merged, ...after.slice(end)];
  }
  return lines.join('\n');
}
