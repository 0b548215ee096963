/** The scene graph of a chart: what is in it, and how that hangs together. */
import type { ChartMark, ChartReading } from './chart-reading.ts';
import { anchorOf } from './svg.ts';

/** A part of the chart. `box` is [left, top, right, bottom] in pixels. */
interface SceneNode {
  readonly id: string;
  readonly type: string;
  readonly label?: string;
  readonly color?: string;
  readonly value?: number;
  readonly box?: readonly number[];
}

/** `from` stands in a relation to `to`. */
interface SceneEdge {
  readonly from: string;
  readonly to: string;
  readonly relation:
    | 'part_of'
    | 'labels'
    | 'titles'
    | 'measured_by'
    | 'belongs_to_series'
    | 'belongs_to_row'
    | 'binds_color';
}

export interface SceneGraph {
  readonly nodes: readonly SceneNode[];
  readonly edges: readonly SceneEdge[];
}

/**
 * Nodes for the chart, its plot, axes, legend, series, rows, marks and texts; edges for membership of
 * series and rows, for axes that measure marks, and for colors that the legend binds to series.
 */
export function sceneGraphOf(chart: ChartReading): SceneGraph {
  const nodes: SceneNode[] = [{ id: 'chart', type: chart.table?.kind ?? 'unknown' }];
  const edges: SceneEdge[] = [];
  addFrame(chart, nodes, edges);
  addTable(chart, nodes, edges);
  addMarks(chart, nodes, edges);
  addTexts(chart, nodes, edges);
  return { nodes, edges: edges.filter(({ to }) => nodes.some(({ id }) => id === to)) };
}

function addFrame(chart: ChartReading, nodes: SceneNode[], edges: SceneEdge[]): void {
  if (chart.plot !== null) {
    nodes.push({ id: 'plot', type: 'plot', box: chart.plot });
    edges.push({ from: 'plot', to: 'chart', relation: 'part_of' });
  }
  for (const [id, axis] of [
    ['x_axis', chart.xAxis],
    ['y_axis', chart.yAxis],
  ] as const) {
    const isNamed = chart.texts.some((text) => anchorOf(chart, text) === id);
    if (axis === null && !isNamed) continue;
    const type = axis === null ? 'category_axis' : axis.isLog ? 'log_axis' : 'linear_axis';
    nodes.push({ id, type });
    edges.push({ from: id, to: 'chart', relation: 'part_of' });
  }
  if (chart.legend === null) return;
  nodes.push({ id: 'legend', type: 'legend', box: chart.legend.box });
  edges.push({ from: 'legend', to: 'chart', relation: 'part_of' });
  for (const [index, { color, swatch }] of chart.legend.entries.entries()) {
    nodes.push({ id: `swatch_${index}`, type: 'swatch', color, box: swatch });
    edges.push({ from: `swatch_${index}`, to: 'legend', relation: 'part_of' });
  }
}

function addTable(chart: ChartReading, nodes: SceneNode[], edges: SceneEdge[]): void {
  const { table, legend } = chart;
  if (table === null) return;
  for (const [index, { name, color }] of table.series.entries()) {
    const id = `series_${index}`;
    nodes.push({ id, type: 'series', label: name, ...(color !== null && { color }) });
    edges.push({ from: id, to: 'chart', relation: 'part_of' });
    const entry = legend?.entries.findIndex((one) => one.name === name) ?? -1;
    if (entry >= 0) edges.push({ from: `swatch_${entry}`, to: id, relation: 'binds_color' });
  }
  for (const [index, label] of table.rows.entries()) {
    nodes.push({ id: `row_${index}`, type: 'row', label });
    edges.push({ from: `row_${index}`, to: 'chart', relation: 'part_of' });
    const entry = legend?.entries.findIndex(({ name }) => name === label) ?? -1;
    if (table.kind === 'pie' && entry >= 0) {
      edges.push({ from: `swatch_${entry}`, to: `row_${index}`, relation: 'binds_color' });
    }
  }
}

function addMarks(chart: ChartReading, nodes: SceneNode[], edges: SceneEdge[]): void {
  const { table } = chart;
  for (const [index, mark] of chart.marks.entries()) {
    const { kind, row, series, color } = mark;
    const id = `${kind}_${index}`;
    const value = table?.cells[row]?.[series]?.value;
    const box = boxOf(mark);
    nodes.push({
      ...{ id, type: kind },
      ...(value !== undefined && { value }),
      ...(color !== null && { color }),
      ...(box !== undefined && { box }),
    });
    if (series >= 0)
      edges.push({ from: id, to: `series_${series}`, relation: 'belongs_to_series' });
    if (row >= 0) edges.push({ from: id, to: `row_${row}`, relation: 'belongs_to_row' });
    const axis = table?.isHorizontal === true ? 'x_axis' : 'y_axis';
    if (kind !== 'sector') edges.push({ from: id, to: axis, relation: 'measured_by' });
  }
}

function boxOf({ box, circle, points }: ChartMark): readonly number[] | undefined {
  if (box !== undefined) return box;
  if (circle !== undefined) {
    const [x, y, radius] = circle;
    return [x - radius, y - radius, x + radius, y + radius].map(
      (side) => Math.round(side * 10) / 10,
    );
  }
  if (points === undefined || points.length === 0) return undefined;
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

function addTexts(chart: ChartReading, nodes: SceneNode[], edges: SceneEdge[]): void {
  for (const [index, text] of chart.texts.entries()) {
    const id = `text_${index}`;
    nodes.push({ id, type: text.role, label: text.text, box: text.box });
    const isTitle = text.role.endsWith('title');
    const to = anchorOf(chart, text);
    edges.push({ from: id, to, relation: isTitle ? 'titles' : 'labels' });
  }
}
