/** The charts of `quality/charts`, whose tables are known. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ToolImage } from '@saccade/tools';
import { z } from 'zod';
import { pngSize } from '../../png.ts';

const point = z.tuple([z.number(), z.number()]);
const box = z.tuple([z.number(), z.number(), z.number(), z.number()]);

const chartCase = z.object({
  id: z.string(),
  kind: z.enum([
    'bar',
    'horizontal',
    'grouped',
    'stacked',
    'line',
    'lines',
    'pie',
    'scatter',
    'area',
  ]),
  library: z.enum(['matplotlib', 'vega']),
  style: z.string(),
  title: z.string(),
  xLabel: z.string(),
  yLabel: z.string(),
  hasLegend: z.boolean(),
  /** Degrees by which labels of the horizontal axis are turned. */
  rotation: z.number(),
  isLog: z.boolean(),
  /** Whether rows stand at numbers along an axis, so that not every row has a label. */
  isNumeric: z.boolean(),
  labels: z.array(z.string()).default([]),
  series: z.array(
    z.object({
      name: z.string(),
      values: z.array(z.number()).default([]),
      points: z.array(point).default([]),
    }),
  ),
  /** Bars with what they stand for, centers of points, and corners of lines, in pixels. */
  marks: z.array(
    z.object({
      kind: z.enum(['bar', 'point', 'line']),
      label: z.string().optional(),
      series: z.string().optional(),
      value: z.number().optional(),
      box: box.optional(),
      at: point.optional(),
      points: z.array(point).optional(),
    }),
  ),
  texts: z.array(
    z.object({ text: z.string(), role: z.enum(['title', 'axis_title', 'tick', 'legend']), box }),
  ),
});

export type ChartCase = z.output<typeof chartCase>;

const folder = new URL('../../../quality/charts/', import.meta.url);

/** All charts, in the order of the file. */
export async function chartCases(): Promise<readonly ChartCase[]> {
  const file = await readFile(new URL('cases.json', folder), 'utf8');
  return z.array(chartCase).parse(JSON.parse(file));
}

/** The image of a chart as that of a call. */
export async function chartImage({ id }: ChartCase): Promise<readonly ToolImage[]> {
  const png = await readFile(fileURLToPath(new URL(`${id}.png`, folder)));
  const size = pngSize(png) ?? { width: 0, height: 0 };
  return [{ name: 'image_0', png, ...size }];
}

/** The values of a pie are shares in percent; those of other charts are as they are. */
export function trueValues({ kind, series }: ChartCase): readonly (readonly number[])[] {
  if (kind !== 'pie') return series.map(({ values }) => values);
  return series.map(({ values }) => {
    const total = values.reduce((sum, value) => sum + value, 0);
    return values.map((value) => (100 * value) / total);
  });
}

/** The kind of a chart, in the words of the tools. */
export function trueKind({ kind }: ChartCase): 'bar' | 'line' | 'pie' | 'scatter' | 'area' {
  if (kind === 'horizontal' || kind === 'grouped' || kind === 'stacked') return 'bar';
  return kind === 'lines' ? 'line' : kind;
}
