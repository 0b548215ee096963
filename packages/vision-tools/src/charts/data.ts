/** The data of a chart as JSON: axes, series, values with their confidence. */
import type { ChartReading, ReadChart } from './chart-reading.ts';
import { rowTitle, valueTitle } from './grid.ts';

/** Data of a chart; `values` follow `categories`, with null where no mark was seen. */
export interface ChartData {
  readonly type: string;
  readonly title: string | null;
  readonly orientation: 'vertical' | 'horizontal';
  readonly stacked: boolean;
  readonly categoryAxis: string;
  readonly valueAxis: {
    readonly title: string;
    readonly scale: 'linear' | 'logarithmic' | 'percent';
    readonly unit: string;
    readonly min?: number;
    readonly max?: number;
  };
  readonly categories: readonly string[];
  readonly series: readonly SeriesData[];
}

interface SeriesData {
  readonly name: string;
  readonly namedBy: string;
  readonly color: string | null;
  readonly values?: readonly (number | null)[];
  readonly confidence?: readonly (number | null)[];
  readonly points?: readonly {
    readonly x: number;
    readonly y: number;
    readonly confidence: number;
  }[];
}

/** The data of a chart. */
export function dataOf(chart: ReadChart): ChartData {
  const { table } = chart;
  return {
    type: table.kind,
    title: chart.title,
    orientation: table.isHorizontal ? 'horizontal' : 'vertical',
    stacked: table.isStacked,
    categoryAxis: table.kind === 'scatter' ? (chart.xTitle ?? 'x') : rowTitle(chart),
    valueAxis: valueAxis(chart),
    categories: table.rows,
    series: table.series.map(({ name, namedBy, color }, index) => ({
      ...{ name, namedBy, color },
      ...(table.kind === 'scatter'
        ? { points: table.points[index] ?? [] }
        : {
            values: table.cells.map((row) => row[index]?.value ?? null),
            confidence: table.cells.map((row) => row[index]?.confidence ?? null),
          }),
    })),
  };
}

function valueAxis(chart: ReadChart): ChartData['valueAxis'] {
  const { table, xAxis, yAxis } = chart;
  if (table.kind === 'pie') return { title: 'Share', scale: 'percent', unit: '%' };
  const axis: ChartReading['yAxis'] = table.isHorizontal ? xAxis : yAxis;
  const values = axis?.ticks.map(({ value }) => value) ?? [];
  return {
    title: valueTitle(chart),
    scale: axis?.isLog === true ? 'logarithmic' : 'linear',
    unit: axis?.unit ?? '',
    ...(values.length > 0 && { min: Math.min(...values), max: Math.max(...values) }),
  };
}
