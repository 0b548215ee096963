/** Facts that follow from the table of a chart: extrema, sums, trends. */
import type { ChartTable } from './chart-reading.ts';

/** A value of the table with the names of its row and series. */
export interface Value {
  readonly row: string;
  readonly series: string;
  readonly value: number;
  readonly confidence: number;
}

/** The values of a table in the order of its rows, of one series or one row where that is asked. */
export function valuesOf(
  table: ChartTable,
  only: { readonly row?: number; readonly series?: number } = {},
): readonly Value[] {
  return table.cells.flatMap((cells, rowIndex) =>
    cells.flatMap((cell, seriesIndex) => {
      if (cell === null) return [];
      if (only.row !== undefined && only.row !== rowIndex) return [];
      if (only.series !== undefined && only.series !== seriesIndex) return [];
      const [row = '', series = ''] = [table.rows[rowIndex], table.series[seriesIndex]?.name];
      return [{ row, series, value: cell.value, confidence: cell.confidence }];
    }),
  );
}

/** Adds up. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The arithmetic mean; NaN for none. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** The middle value, or the mean of the two in the middle; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}

/** The values from the largest on; of equals the first in the table first. */
export function ranked(values: readonly Value[]): readonly Value[] {
  return [...values].sort((a, b) => b.value - a.value);
}

/** How values run along an ordered axis. */
export type Trend = 'increasing' | 'decreasing' | 'stable' | 'fluctuating';

/**
 * The trend by the test of Mann (1945) and Kendall: S counts the pairs that rise less those that fall;
 * |S| beyond 1.96 standard deviations is a trend. Up to seven values, where the normal approximation is
 * poor, three quarters of the pairs must agree.
 *
 * `stable`: all values lie within 5 % of their mean.
 */
export function trendOf(values: readonly number[]): Trend {
  const count = values.length;
  const center = mean(values);
  if (values.every((value) => Math.abs(value - center) <= 0.05 * Math.abs(center))) return 'stable';
  let s = 0;
  for (const [index, earlier] of values.entries()) {
    for (const later of values.slice(index + 1)) s += Math.sign(later - earlier);
  }
  const pairs = (count * (count - 1)) / 2;
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const isTrend = count <= 7 ? Math.abs(s) >= 0.75 * pairs : Math.abs(s) > 1.96 * deviation;
  if (!isTrend) return 'fluctuating';
  return s > 0 ? 'increasing' : 'decreasing';
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Whether rows have an order, so that a trend means something: rising numbers, or months. */
export function isOrdered({ kind, rows }: ChartTable): boolean {
  if (kind === 'pie' || rows.length < 3) return false;
  if (kind === 'line' || kind === 'area') return true;
  const places = rows.map((row) => {
    const month = months.indexOf(row.trim().slice(0, 3).toLowerCase());
    if (month >= 0) return month;
    return row.trim() === '' ? Number.NaN : Number(row.replaceAll(/[\s,]/g, ''));
  });
  return places.every((place, index) => index === 0 || place > (places[index - 1] ?? Number.NaN));
}
