/** Draws a planned chart, and says where the mark of every cell is. */
import type { Box } from '@saccade/gym';
import { scaleLinear } from 'd3-scale';
import { arc, pie } from 'd3-shape';
import { Drawing, type TextStyle } from '../rendering/drawing.ts';
import type { ChartStyle } from './chart-style.ts';
import { type ChartPlan, valueAt } from './plan-chart.ts';
import type { Cell, Readable } from './program.ts';

/** A drawn mark, with the value written beside it where there is one. */
interface Mark extends Cell {
  readonly boxes: readonly Box[];
}

/** A drawn chart. */
export interface DrawnChart extends Readable {
  readonly drawing: Drawing;
  readonly marks: readonly Mark[];
}

/** The chart as categories and series, whichever of the two are rows of the table. */
interface Grid {
  readonly categories: readonly string[];
  readonly series: readonly string[];
  cell(category: string, series: string): Cell;
  value(category: string, series: string): number;
}

function gridOf({ isByRow, rows, columns, table }: ChartPlan): Grid {
  const cell = (category: string, series: string): Cell =>
    isByRow ? { row: category, column: series } : { row: series, column: category };
  return {
    categories: isByRow ? rows : columns,
    series: isByRow ? columns : rows,
    cell,
    value(category, series) {
      const { row, column } = cell(category, series);
      return valueAt(table, row, column);
    },
  };
}

/** A title that says everything that the axes do not. */
function chartTitle({ table, rows, columns }: ChartPlan): string {
  const { measure, unit } = table;
  const what = `${measure.charAt(0).toUpperCase()}${measure.slice(1)} (${unit})`;
  const row = rows.length === 1 ? `: ${rows[0]}` : '';
  const column = columns.length === 1 && columns[0] !== '' ? `, ${columns[0]}` : '';
  return `${what}${row}${column}`;
}

/** Draws a chart. `wantsLabels`: write every value beside its mark where there is room. */
export function drawChart(plan: ChartPlan, style: ChartStyle, wantsLabels: boolean): DrawnChart {
  const drawing = new Drawing(style.width, style.height, style.background);
  const { width, height, size, ink } = style;
  const text: TextStyle = { typeface: style.regular, size, color: ink };
  const title = chartTitle(plan);
  const titleSize = Math.min(
    size * 1.3,
    (size * (width - 4 * size)) / style.bold.widthOf(title, size),
  );
  drawing.text(title, width / 2, size * 2, {
    typeface: style.bold,
    size: titleSize,
    color: ink,
    anchor: 'middle',
  });
  const grid = gridOf(plan);
  const names = plan.kind === 'pie' ? grid.categories : grid.series;
  const frame: Box = [size, size * 3.2, width - size * 1.5, height - size];
  const inner = names.length > 1 ? drawLegend(drawing, names, frame, style, text) : frame;
  return plan.kind === 'pie'
    ? drawPie(drawing, grid, inner, style, text)
    : drawAxes(drawing, plan, grid, inner, style, text, wantsLabels);
}

/** Draws the legend at the edge of a frame, and returns the rest of the frame. */
function drawLegend(
  drawing: Drawing,
  names: readonly string[],
  [left, top, right, bottom]: Box,
  { palette, legend, size, regular }: ChartStyle,
  text: TextStyle,
): Box {
  const swatch = (x: number, y: number, index: number): void =>
    drawing.rectangle([x, y, x + size, y + size], { fill: palette[index] ?? '' });
  const widths = names.map((name) => regular.widthOf(name, size) + size * 2.6);
  if (legend === 'right') {
    const start = right - Math.max(...widths) + size;
    names.forEach((name, index) => {
      const y = top + size + index * size * 1.7;
      swatch(start, y, index);
      drawing.text(name, start + size * 1.4, y + size * 0.85, text);
    });
    return [left, top, start - size, bottom];
  }
  let [x, y] = [left + size, top];
  names.forEach((name, index) => {
    const needed = widths[index] ?? 0;
    if (x + needed > right) [x, y] = [left + size, y + size * 1.7];
    swatch(x, y, index);
    drawing.text(name, x + size * 1.4, y + size * 0.85, text);
    x += needed;
  });
  return [left, y + size * 2.2, right, bottom];
}

const written = (value: number): string => value.toFixed(1);

function drawPie(
  drawing: Drawing,
  { categories, series: [series = ''], cell, value }: Grid,
  [left, top, right, bottom]: Box,
  { palette, background, size }: ChartStyle,
  text: TextStyle,
): DrawnChart {
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const radius = Math.min(right - left - size * 6, bottom - top - size * 4) / 2;
  const shape = arc<unknown, { startAngle: number; endAngle: number }>()
    .innerRadius(0)
    .outerRadius(radius);
  const values = categories.map((category) => value(category, series));
  const marks = pie<number>()
    .sort(null)(values)
    .map((slice, index): Mark => {
      const paint = { fill: palette[index] ?? '', stroke: background, 'stroke-width': 2 };
      drawing.path(shape(slice as never) ?? '', paint, x, y);
      const angle = (slice.startAngle + slice.endAngle) / 2;
      const [dx, dy] = [Math.sin(angle), -Math.cos(angle)];
      const far = radius + size * 1.4;
      const label = written(slice.value);
      const box = drawing.text(label, x + dx * far, y + dy * far + size * 0.35, {
        ...text,
        anchor: 'middle',
      });
      const near = radius * 0.6;
      const around: Box = [
        x + dx * near - size,
        y + dy * near - size,
        x + dx * near + size,
        y + dy * near + size,
      ];
      return { ...cell(categories[index] ?? '', series), boxes: [around, box] };
    });
  return { drawing, marks, isLabeled: true, axis: [0, Math.max(...values)] };
}

function drawAxes(
  drawing: Drawing,
  plan: ChartPlan,
  grid: Grid,
  [left, top, right, bottom]: Box,
  style: ChartStyle,
  text: TextStyle,
  wantsLabels: boolean,
): DrawnChart {
  const { kind } = plan;
  const { categories, series, value } = grid;
  const { size, regular } = style;
  const isStacked = kind === 'stacked';
  const totals = categories.map((category) => {
    const values = series.map((name) => value(category, name));
    return isStacked ? values.reduce((sum, each) => sum + each, 0) : Math.max(...values);
  });
  const all = categories.flatMap((category) => series.map((name) => value(category, name)));
  const [least, most] = [Math.min(...all), Math.max(...totals)];
  // Only a line may leave zero out: the length of a bar is its value.
  const base = kind === 'lines' && least > most / 2 ? least - (most - least) / 4 : 0;
  const scale = scaleLinear().domain([base, most]).nice(6);
  const ticks = scale.ticks(6);
  const format = scale.tickFormat(6);
  const axisLeft = left + Math.max(...ticks.map((tick) => regular.widthOf(format(tick), size)));
  const plotLeft = axisLeft + size * 0.8;
  const step = (right - plotLeft) / categories.length;
  const longest = Math.max(...categories.map((name) => regular.widthOf(name, size)));
  const isTurned = longest > step - size * 0.6;
  const plotBottom = bottom - (isTurned ? longest + size * 0.8 : size * 1.8);
  const plotTop = top + size * 1.4;
  scale.range([plotBottom, plotTop]);
  for (const tick of ticks) {
    const y = scale(tick);
    const paint = { stroke: style.grid, 'stroke-width': 1, 'stroke-dasharray': style.dashes };
    drawing.line([plotLeft, y], [right, y], paint);
    drawing.text(format(tick), axisLeft, y + size * 0.35, { ...text, anchor: 'end' });
  }
  const middle = (index: number) => plotLeft + (index + 0.5) * step;
  categories.forEach((name, index) => {
    const x = middle(index);
    if (isTurned) {
      const turned: TextStyle = { ...text, anchor: 'end', turn: -90 };
      drawing.text(name, x + size * 0.35, plotBottom + size * 0.6, turned);
    } else {
      drawing.text(name, x, plotBottom + size * 1.4, { ...text, anchor: 'middle' });
    }
  });
  const origin = { stroke: style.ink, 'stroke-width': 1.5 };
  drawing.line([plotLeft, plotBottom], [right, plotBottom], origin);

  const across = kind === 'grouped' ? series.length : 1;
  const barWidth = (step * 0.76) / across;
  const room = kind === 'lines' ? step : barWidth;
  const fits = Math.max(...all.map((each) => regular.widthOf(written(each), size))) < room * 0.98;
  const tallEnough = scale(0) - scale(least) > size * 1.3;
  const isLabeled =
    fits && (isStacked ? tallEnough : wantsLabels && !(kind === 'lines' && series.length > 1));
  const marks: Mark[] = [];
  // Lines first: values are written over them.
  const lines = kind === 'lines' ? series : [];
  lines.forEach((name, order) => {
    const stroke = style.palette[order] ?? '';
    const places = categories.map(
      (category, index) => [middle(index), scale(value(category, name))] as const,
    );
    const data = `M${places.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join('L')}`;
    drawing.path(data, { fill: 'none', stroke, 'stroke-width': size / 6 });
    for (const [x, y] of places) drawing.disk(x, y, size / 3.5, { fill: stroke });
  });
  categories.forEach((category, index) => {
    let stacked = 0;
    series.forEach((name, order) => {
      const amount = value(category, name);
      const color = style.palette[order] ?? '';
      const y = scale(stacked + amount);
      const barLeft = middle(index) - step * 0.38 + (kind === 'grouped' ? order * barWidth : 0);
      const center = kind === 'lines' ? middle(index) : barLeft + barWidth / 2;
      const box: Box =
        kind === 'lines'
          ? [center - size / 2, y - size / 2, center + size / 2, y + size / 2]
          : [barLeft, y, barLeft + barWidth, scale(stacked)];
      if (kind !== 'lines') {
        const gap = { stroke: style.background, 'stroke-width': across > 1 || isStacked ? 1 : 0 };
        drawing.rectangle(box, { fill: color, ...gap });
      }
      const boxes = [box];
      if (isLabeled) {
        const label = written(amount);
        const below = isStacked ? (y + scale(stacked)) / 2 + size * 0.35 : y - size * 0.45;
        if (isStacked) {
          const wide = regular.widthOf(label, size) / 2 + 2;
          const plate: Box = [center - wide, below - size * 0.85, center + wide, below + 3];
          drawing.rectangle(plate, { fill: style.background, rx: 2 });
        }
        // A line may pass behind the value of its point.
        const halo = kind === 'lines' ? { halo: style.background } : {};
        boxes.push(drawing.text(label, center, below, { ...text, ...halo, anchor: 'middle' }));
      }
      if (isStacked) stacked += amount;
      marks.push({ ...grid.cell(category, name), boxes });
    });
  });
  const [axisLow = 0, axisHigh = 1] = scale.domain();
  return { drawing, marks, isLabeled, axis: [axisLow, axisHigh] };
}
