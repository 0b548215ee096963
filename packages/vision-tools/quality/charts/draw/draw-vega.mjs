/**
 * Draws the planned charts for Vega-Lite, and writes where their marks and texts are.
 *
 *   node draw-vega.mjs plan.json OUT
 *
 * Needs vega 6, vega-lite 6, vega-themes 3 and sharp.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import * as vega from 'vega';
import * as lite from 'vega-lite';
import * as vegaThemes from 'vega-themes';

const roles = {
  'axis-label': 'tick',
  'axis-title': 'axis_title',
  'legend-label': 'legend',
  'title-text': 'title',
};
const themes = { ...vegaThemes };
const [file, out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const drawn = [];
for (const chart of JSON.parse(readFileSync(file, 'utf8'))) {
  if (chart.library !== 'vega') continue;
  const config = themes[chart.style] ?? {};
  const logger = vega.logger(vega.Error);
  const { spec } = lite.compile({ ...specOf(chart), config }, { logger });
  const view = new vega.View(vega.parse(spec), { renderer: 'none' });
  const svg = await view.toSVG();
  await sharp(Buffer.from(svg))
    .flatten({ background: 'white' })
    .png({ palette: true, dither: 0, compressionLevel: 9 })
    .toFile(join(out, `${chart.id}.png`));
  drawn.push({ id: chart.id, ...partsOf(view) });
}
writeFileSync(join(out, 'parts-vega.json'), `${JSON.stringify(drawn)}\n`);

function specOf(chart) {
  const height = chart.height - 110;
  const spec = { title: chart.title, width: chart.width - 150, height };
  if (chart.kind === 'scatter') return scatterSpec(spec, chart);
  const values = chart.series.flatMap(({ name, values: row }, order) =>
    row.map((value, index) => ({ label: chart.labels[index], value, series: name, order, index })),
  );
  if (chart.kind === 'pie') return pieSpec(spec, chart, values);
  return rowsSpec(spec, chart, values);
}

function scatterSpec(spec, { series, xLabel, yLabel, hasLegend }) {
  const values = series.flatMap(({ name, points }) => points.map(([x, y]) => ({ x, y, name })));
  const axis = (field, title) => ({ field, type: 'quantitative', title, scale: { zero: false } });
  return {
    ...{ ...spec, data: { values }, mark: { type: 'point', filled: true, size: 50 } },
    encoding: {
      ...{ x: axis('x', xLabel), y: axis('y', yLabel) },
      ...(hasLegend && { color: { field: 'name', type: 'nominal', title: null } }),
    },
  };
}

function pieSpec(spec, { labels, hasValues, isDonut }, values) {
  const radius = spec.height / 2 - 25;
  const total = values.reduce((sum, { value }) => sum + value, 0);
  const data = values.map((one) => ({
    ...one,
    text: `${((100 * one.value) / total).toFixed(1)}%`,
  }));
  const arc = { type: 'arc', innerRadius: isDonut ? 60 : 0, outerRadius: radius };
  const text = { type: 'text', radius: radius + 17 };
  return {
    ...{ ...spec, width: spec.height, data: { values: data } },
    encoding: {
      theta: { field: 'value', type: 'quantitative', stack: true },
      color: { field: 'label', type: 'nominal', sort: labels, title: null },
      order: { field: 'index' },
    },
    ...(hasValues
      ? { layer: [{ mark: arc }, { mark: text, encoding: { text: { field: 'text' } } }] }
      : { mark: arc }),
  };
}

function rowsSpec(spec, chart, values) {
  const { kind, labels, isNumeric, isHorizontal, isLog, rotation, series, hasLegend } = chart;
  const types = { line: 'line', lines: 'line', area: 'area' };
  const type = types[kind] ?? 'bar';
  const label = {
    ...{
      field: 'label',
      type: isNumeric ? 'quantitative' : 'ordinal',
      title: chart.xLabel || null,
    },
    axis: {
      labelAngle: isHorizontal ? 0 : -rotation,
      ...(isNumeric && { format: 'd' }),
      ...(chart.hasGrid && { grid: true }),
    },
    ...(isNumeric ? { scale: { zero: false } } : { sort: labels }),
  };
  const least = Math.min(...values.map(({ value }) => value)) / 10;
  const isLogBar = isLog && type === 'bar';
  const value = {
    ...{ field: 'value', type: 'quantitative', title: chart.yLabel },
    ...(isLog && { scale: { type: 'log', ...(isLogBar && { domainMin: least }) } }),
    ...(isLogBar && { stack: null }),
  };
  const [rows, numbers] = isHorizontal ? ['y', 'x'] : ['x', 'y'];
  const names = series.map(({ name }) => name);
  const color = { field: 'series', type: 'nominal', sort: names, title: null };
  const mark = type === 'line' && chart.hasMarkers ? { type, point: true } : { type };
  const offset = isHorizontal ? { align: 'left', dx: 3 } : { dy: -6 };
  return {
    ...{
      ...spec,
      data: { values: isNumeric ? values.map((v) => ({ ...v, label: +v.label })) : values },
    },
    encoding: {
      ...{ [rows]: label, [numbers]: value },
      ...(isLogBar && { [`${numbers}2`]: { datum: least } }),
      ...(names.length > 1 && { color: hasLegend ? color : { ...color, legend: null } }),
      ...(kind === 'grouped' && { [`${rows}Offset`]: { field: 'series', sort: names } }),
      ...(kind === 'stacked' && { order: { field: 'order' } }),
    },
    ...(chart.hasValues
      ? {
          layer: [
            { mark },
            { mark: { type: 'text', ...offset }, encoding: { text: { field: 'value' } } },
          ],
        }
      : { mark }),
  };
}

/** Boxes of bars, centers of points, corners of lines, and texts with their roles, in pixels. */
function partsOf(view) {
  const padding = view.padding();
  const [x, y] = view.origin();
  const parts = { marks: [], texts: [] };
  walk(view.scenegraph().root, padding.left + x, padding.top + y, parts);
  return parts;
}

function rounded(pixels) {
  return Math.round(pixels * 10) / 10;
}

function walk(mark, dx, dy, parts) {
  for (const item of mark.items ?? []) {
    if (mark.marktype === 'group') {
      for (const inner of item.items ?? [])
        walk(inner, dx + (item.x ?? 0), dy + (item.y ?? 0), parts);
      continue;
    }
    const { x1, y1, x2, y2 } = item.bounds;
    const box = [x1 + dx, y1 + dy, x2 + dx, y2 + dy].map(rounded);
    const role = roles[mark.role];
    if (mark.marktype === 'text' && role !== undefined && item.opacity !== 0) {
      parts.texts.push({ text: String([item.text].flat().join(' ')), role, box });
    } else if (mark.role === 'mark' && mark.marktype === 'rect') {
      const { label, series, value } = item.datum;
      parts.marks.push({ kind: 'bar', label: String(label), series, value, box });
    } else if (mark.role === 'mark' && mark.marktype === 'symbol' && item.datum.x !== undefined) {
      parts.marks.push({ kind: 'point', at: [item.x + dx, item.y + dy] });
    }
  }
  if (mark.role === 'mark' && (mark.marktype === 'line' || mark.marktype === 'area')) {
    const points = mark.items.map(({ x, y }) => [rounded(x + dx), rounded(y + dy)]);
    parts.marks.push({ kind: 'line', points });
  }
}
