/** The result of the operation `chart` on an image. Lengths are pixels of the image. */
import type { ToolImage } from '@saccade/tools';
import { z } from 'zod';
import type { CallEngine } from '../define-vision-tool.ts';
import { DeclinedError } from '../workers/vision-engine.ts';

const box = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const point = z.tuple([z.number(), z.number()]);
const circle = z.tuple([z.number(), z.number(), z.number()]);

const axis = z.object({
  side: z.enum(['left', 'right', 'top', 'bottom']),
  isLog: z.boolean(),
  unit: z.string(),
  confidence: z.number(),
  ticks: z.array(z.object({ value: z.number(), at: z.number() })),
});

const legend = z.object({
  box,
  title: z.string().nullable(),
  entries: z.array(z.object({ name: z.string(), color: z.string(), swatch: box, textBox: box })),
});

const table = z.object({
  kind: z.enum(['bar', 'line', 'area', 'pie', 'scatter']),
  isHorizontal: z.boolean(),
  isStacked: z.boolean(),
  rows: z.array(z.string()),
  series: z.array(
    z.object({
      name: z.string(),
      /** Where the name comes from; `color` if the chart gives none. */
      namedBy: z.enum(['legend', 'axis', 'title', 'color', 'kind']),
      color: z.string().nullable(),
      colorName: z.string().nullable(),
    }),
  ),
  /** Rows by series; null where no mark was seen. */
  cells: z.array(z.array(z.object({ value: z.number(), confidence: z.number(), box }).nullable())),
  /** Scatter plots only: the points of each series. */
  points: z.array(z.array(z.object({ x: z.number(), y: z.number(), confidence: z.number() }))),
});

const mark = z.object({
  kind: z.enum(['bar', 'area', 'value', 'line', 'marker', 'point', 'sector']),
  /** Indices into the table; −1 for none. */
  row: z.int(),
  series: z.int(),
  color: z.string().nullable(),
  box: box.optional(),
  points: z.array(point).optional(),
  /** x, y, radius. */
  circle: circle.optional(),
  hole: z.number().optional(),
  /** Degrees clockwise from twelve o'clock. */
  angles: point.optional(),
});

const text = z.object({
  text: z.string(),
  role: z.enum([
    'title',
    'x_title',
    'y_title',
    'x_tick',
    'y_tick',
    'tick',
    'category',
    'legend',
    'legend_title',
    'value',
    'other',
  ]),
  box,
  /** Degrees counterclockwise; 90 runs upwards. */
  angle: z.number(),
  confidence: z.number(),
});

const rule = z.object({ kind: z.enum(['axis', 'gridline', 'tick']), line: box, color: z.string() });

const reading = z.object({
  size: point,
  /** Why there is no table, in sentences. */
  problems: z.array(z.string()),
  title: z.string().nullable(),
  xTitle: z.string().nullable(),
  yTitle: z.string().nullable(),
  page: z.string(),
  panel: z.string().nullable(),
  plot: box.nullable(),
  xAxis: axis.nullable(),
  yAxis: axis.nullable(),
  legend: legend.nullable(),
  table: table.nullable(),
  texts: z.array(text),
  rules: z.array(rule),
  marks: z.array(mark),
});

export type ChartReading = z.output<typeof reading>;
export type ChartTable = z.output<typeof table>;
export type ChartMark = z.output<typeof mark>;
export type ChartText = z.output<typeof text>;
/** A chart whose table could be read. */
export type ReadChart = ChartReading & { readonly table: ChartTable };

/** Everything that is found of a chart, be there a table or not. */
export async function readParts(engine: CallEngine, image: ToolImage): Promise<ChartReading> {
  const { result } = await engine.run('chart', {}, [image]);
  return reading.parse(result);
}

/**
 * A chart with its table.
 *
 * @throws DeclinedError `UnreadableChart` if no table can be read: it would have to be invented
 */
export async function readChart(engine: CallEngine, image: ToolImage): Promise<ReadChart> {
  const found = await readParts(engine, image);
  if (found.table !== null && hasValues(found.table)) return { ...found, table: found.table };
  const reason = found.problems.join(' ') || 'None of its values can be read.';
  throw new DeclinedError('UnreadableChart', `No table can be read from this image. ${reason}`);
}

function hasValues({ cells, points }: ChartTable): boolean {
  return (
    cells.some((row) => row.some((cell) => cell !== null)) || points.some((all) => all.length > 0)
  );
}
