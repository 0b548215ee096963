/** How right a table is that was read from a chart. */
import type { Scores } from '../quality.ts';
import { type ChartCase, trueValues } from './cases.ts';
import { isSameLabel, matchLabels } from './labels.ts';

/** A table as a tool gave it: its first column are the labels of rows. */
export interface ReadTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table whose rows are separated so, and whose cells by ` | `. */
export function linearTable(text: string, separator: string): ReadTable {
  const [head = [], ...rows] = text.split(separator).map((row) => row.split(' | '));
  return { head, rows };
}

/**
 * `values`: share of the chart's values that are read within 5 % at the right row and series; for a
 * scatter plot, of points within 2 % of the range, with points too many counted as wrong.
 * `labels`: share of labels of rows, and of the legend, that are read right. Without a table both are 0.
 *
 * Where rows stand at numbers, the rows that the tool gives are compared with the line between the
 * chart's points. Without a legend series have no names, and are matched as fits best.
 */
export function tableScores(table: ReadTable | undefined, chart: ChartCase): Scores {
  if (table === undefined) return { values: 0, labels: 0 };
  if (chart.kind === 'scatter') return pointScores(table, chart);
  const truth = trueValues(chart);
  const columns = columnsOf(table.head.slice(1), table, chart);
  const rows = rowsOf(table, chart);
  const good = truth.flatMap((_, series) => {
    const column = columns[series];
    if (column === undefined) return [];
    return rows.matched.filter(({ row, at }) =>
      isNear(Number(table.rows[row]?.[column + 1]), valueAt(chart, series, at), truth.flat()),
    );
  });
  const names = chart.hasLegend && chart.series.length > 1 ? chart.series : [];
  const named = names.filter(({ name }, index) => {
    const column = columns[index];
    return column !== undefined && isSameLabel(table.head[column + 1] ?? '', name);
  });
  return {
    values: good.length / (rows.expected * truth.length),
    labels: (rows.rightLabels + named.length) / (rows.expected + names.length),
  };
}

interface Rows {
  /** Rows of the table, each with where it is in the chart: an index, or a number along the axis. */
  readonly matched: readonly { readonly row: number; readonly at: number }[];
  readonly expected: number;
  readonly rightLabels: number;
}

function rowsOf(table: ReadTable, chart: ChartCase): Rows {
  const labels = table.rows.map(([label = '']) => label);
  if (!chart.isNumeric) {
    const matches = matchLabels(labels, chart.labels);
    const right = matches.filter(
      (row, at) => row !== undefined && isSameLabel(labels[row] ?? '', chart.labels[at] ?? ''),
    );
    return {
      matched: matches.flatMap((row, at) => (row === undefined ? [] : [{ row, at }])),
      expected: chart.labels.length,
      rightLabels: right.length,
    };
  }
  const places = chart.labels.map(Number);
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const numbers = labels.map((label) => (label === '' ? Number.NaN : Number(label)));
  const inside = numbers.flatMap((at, row) => (at >= first && at <= last ? [{ row, at }] : []));
  const broken = numbers.filter((at) => Number.isNaN(at)).length;
  const expected = Math.max(3, inside.length + broken);
  return { matched: inside, expected, rightLabels: inside.length };
}

function valueAt(
  { isNumeric, labels, kind, series, ...rest }: ChartCase,
  index: number,
  at: number,
): number {
  const values = trueValues({ isNumeric, labels, kind, series, ...rest })[index] ?? [];
  if (!isNumeric) return values[at] ?? Number.NaN;
  const places = labels.map(Number);
  const after = places.findIndex((place) => place >= at);
  const [x0, x1] = [places[Math.max(0, after - 1)] ?? at, places[after] ?? at];
  const [y0, y1] = [values[Math.max(0, after - 1)] ?? Number.NaN, values[after] ?? Number.NaN];
  return x1 === x0 ? y1 : y0 + ((at - x0) / (x1 - x0)) * (y1 - y0);
}

/** Within 5 %; where the truth is zero, within a hundredth of the range. */
export function isNear(read: number, truth: number, all: readonly number[]): boolean {
  if (Number.isNaN(read)) return false;
  const range = Math.max(...all) - Math.min(...all, 0);
  return Math.abs(read - truth) <= (truth === 0 ? 0.01 * range : 0.05 * Math.abs(truth));
}

/** For every series the column that holds it. */
function columnsOf(
  names: readonly string[],
  table: ReadTable,
  chart: ChartCase,
): readonly (number | undefined)[] {
  if (chart.series.length === 1) return [0];
  if (chart.hasLegend) {
    return matchLabels(
      names,
      chart.series.map(({ name }) => name),
    );
  }
  const rows = rowsOf(table, chart);
  const truth = trueValues(chart).flat();
  const used = new Set<number>();
  return chart.series.map((_, series) => {
    const scored = names.map((__, column) => ({
      column,
      good: rows.matched.filter(({ row, at }) =>
        isNear(Number(table.rows[row]?.[column + 1]), valueAt(chart, series, at), truth),
      ).length,
    }));
    const best = scored
      .filter(({ column }) => !used.has(column))
      .sort((a, b) => b.good - a.good)[0];
    if (best !== undefined) used.add(best.column);
    return best?.column;
  });
}

function pointScores(table: ReadTable, chart: ChartCase): Scores {
  const isGrouped = chart.series.length > 1;
  const found = table.rows.map((cells) => cells.slice(-2).map(Number));
  const truth = chart.series.flatMap(({ points }) => points);
  const range = (index: 0 | 1): number => {
    const all = truth.map((at) => at[index]);
    return Math.max(...all) - Math.min(...all);
  };
  const [width, height] = [range(0), range(1)];
  const pairs = found.flatMap(([x = Number.NaN, y = Number.NaN], i) =>
    truth.map(([tx, ty], j) => ({
      ...{ i, j },
      away: Math.max(Math.abs(x - tx) / width, Math.abs(y - ty) / height),
    })),
  );
  const [usedFound, usedTrue] = [new Set<number>(), new Set<number>()];
  for (const { i, j, away } of pairs.sort((a, b) => a.away - b.away)) {
    if (!(away <= 0.02) || usedFound.has(i) || usedTrue.has(j)) continue;
    usedFound.add(i);
    usedTrue.add(j);
  }
  const tooMany = Math.max(0, found.length - truth.length);
  const names = new Set(table.rows.map(([name = '']) => name));
  const right = chart.series.filter(({ name }) =>
    [...names].some((read) => isSameLabel(read, name)),
  );
  return {
    values: usedTrue.size / (truth.length + tooMany),
    ...(isGrouped && { labels: right.length / chart.series.length }),
  };
}
