/** Plans a chart: the part of a table that it shows, and its kind. */
import type { Random } from '@saccade/core';
import type { Table } from './tables.ts';

/** The kinds of charts. */
export const chartKinds = ['bars', 'grouped', 'lines', 'pie', 'stacked'] as const;
/** A kind of chart. */
export type ChartKind = (typeof chartKinds)[number];

/** The content of a chart. Its categories are rows and its series columns, or the reverse. */
export interface ChartPlan {
  readonly kind: ChartKind;
  readonly table: Table;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** Whether the categories (along the axis, or slices) are rows of the table. */
  readonly isByRow: boolean;
}

/** The value of a cell of the table. */
export function valueAt(table: Table, row: string, column: string): number {
  const values = table.rows.find(({ name }) => name === row)?.values;
  const value = values?.[table.columns.indexOf(column)];
  if (value === undefined) throw new RangeError(`${table.id} has no cell ${row}, ${column}.`);
  return value;
}

/** Categories of a chart with one series, fewest and most, by difficulty 1 to 4. */
const single = [4, 5, 6, 8, 9, 12, 13, 16] as const;
/** Categories of a chart with several series. */
const several = [3, 3, 4, 5, 5, 6, 6, 8] as const;
/** Slices of a pie: more cannot be told apart by color. */
const slices = [4, 4, 5, 5, 6, 6, 7, 8] as const;
/** Series of a chart with several. */
const seriesCount = [2, 2, 3, 4] as const;

const between = (random: Random, range: readonly number[], level: number): number => {
  const [least, most] = [range[2 * level - 2] ?? 1, range[2 * level - 1] ?? 1];
  return least + random.integer(most - least + 1);
};

/** Draws a plan of a kind and difficulty; undefined where the drawn table is too small for it. */
export function planChart(
  kind: ChartKind,
  level: number,
  tables: readonly Table[],
  random: Random,
): ChartPlan | undefined {
  const table = random.pick(tables);
  const hasYears = table.columns.length > 1;
  if (kind === 'pie' || kind === 'stacked') {
    if (!table.isAdditive) return undefined;
  }
  if (kind === 'bars' || kind === 'pie') {
    const count = between(random, kind === 'pie' ? slices : single, level);
    const isByRow = kind === 'pie' || !hasYears || random.integer(2) === 0;
    if (!isByRow) {
      const columns = lastColumns(table, count, random);
      return columns && { kind, table, rows: [random.pick(table.rows).name], columns, isByRow };
    }
    const rows = pickRows(table, count, random);
    return rows && { kind, table, rows, columns: [random.pick(table.columns)], isByRow };
  }
  if (!hasYears) return undefined;
  const count = between(random, several, level);
  const series = seriesCount[level - 1] ?? 2;
  if (kind === 'grouped' && random.integer(2) === 0) {
    const rows = pickRows(table, count, random);
    const columns = lastColumns(table, series, random);
    return rows && columns && { kind, table, rows, columns, isByRow: true };
  }
  const rows = pickRows(table, level === 1 && kind === 'lines' ? 1 : series, random);
  const columns = lastColumns(table, kind === 'lines' ? count + 2 : count, random);
  return rows && columns && { kind, table, rows, columns, isByRow: false };
}

/** Rows in the order that they are drawn; of similar size where sizes differ by magnitudes. */
function pickRows(table: Table, count: number, random: Random): readonly string[] | undefined {
  if (table.rows.length < count) return undefined;
  if (!table.isAdditive) return names(random.shuffle(table.rows).slice(0, count));
  const last = (values: readonly number[]) => values.at(-1) ?? 0;
  const bySize = [...table.rows].sort((a, b) => last(a.values) - last(b.values));
  const start = random.integer(bySize.length - count + 1);
  return names(random.shuffle(bySize.slice(start, start + count)));
}

const names = (rows: Table['rows']): readonly string[] => rows.map(({ name }) => name);

/** Columns one after another, evenly spaced. */
function lastColumns(table: Table, count: number, random: Random): readonly string[] | undefined {
  const { columns } = table;
  if (columns.length < count) return undefined;
  const step = 1 + random.integer(Math.floor((columns.length - 1) / Math.max(1, count - 1)));
  const start = random.integer(columns.length - (count - 1) * step);
  return Array.from({ length: count }, (_, index) => columns[start + index * step] ?? '');
}
