/** Charts as SVG: the shapes that were found, with what they stand for in `data-` attributes. */
import type { ChartMark, ChartReading, ChartText } from './chart-reading.ts';

/** The structure of a chart as SVG: plot, axes, gridlines, legend boxes and marks; no text. */
export function structureSvg(chart: ChartReading): string {
  const { plot, panel, rules, legend, marks } = chart;
  const parts = [
    ...(plot === null ? [] : [rectangle(plot, `id="plot" fill="${panel ?? 'none'}"`)]),
    ...group(
      'rules',
      rules.map(({ kind, line, color }) => lineOf(line, `class="${kind}" stroke="${color}"`)),
    ),
    ...group('marks', marks.map(markSvg)),
    ...group(
      'legend',
      (legend?.entries ?? []).map(({ swatch, color }) =>
        rectangle(swatch, `class="swatch" fill="${color}"`),
      ),
    ),
  ];
  return documentOf(chart.size, chart.page, parts);
}

/** The texts of a chart as SVG, each with its role and, by `data-anchor`, what it belongs to. */
export function textSvg(chart: ChartReading): string {
  return documentOf(
    chart.size,
    chart.page,
    chart.texts.map((text) => textElement(text, anchorOf(chart, text))),
  );
}

/** The element that a text belongs to: an axis, a row of the table, a swatch, or the chart. */
export function anchorOf({ table, legend }: ChartReading, { text, role }: ChartText): string {
  if (role === 'x_title' || role === 'x_tick') return 'x_axis';
  if (role === 'y_title' || role === 'y_tick') return 'y_axis';
  if (role === 'category') {
    const row = table?.rows.indexOf(text) ?? -1;
    return row >= 0 ? `row_${row}` : 'axis';
  }
  if (role === 'legend') {
    const entry = legend?.entries.findIndex(({ name }) => name === text) ?? -1;
    return entry >= 0 ? `swatch_${entry}` : 'legend';
  }
  if (role === 'legend_title') return 'legend';
  if (role === 'tick') return 'axis';
  return role === 'value' ? 'plot' : 'chart';
}

/** Regions and segments as SVG. */
export function primitiveSvg(
  size: readonly [number, number],
  page: string,
  shapes: {
    readonly regions: readonly {
      readonly color: string;
      readonly points: readonly (readonly [number, number])[];
    }[];
    readonly segments: readonly {
      readonly line: readonly [number, number, number, number];
      readonly color: string;
    }[];
  },
): string {
  const regions = shapes.regions.map(
    ({ color, points }) => `<polygon points="${pointsText(points)}" fill="${color}"/>`,
  );
  const segments = shapes.segments.map(({ line, color }) => lineOf(line, `stroke="${color}"`));
  return documentOf(size, page, [...group('regions', regions), ...group('segments', segments)]);
}

function documentOf(
  [width, height]: readonly [number, number],
  page: string,
  parts: readonly string[],
): string {
  const [w, h] = [length(width), length(height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}">`,
    `<rect width="${w}" height="${h}" fill="${page}"/>`,
    ...parts,
    '</svg>',
  ].join('\n');
}

function group(id: string, parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? [] : [`<g id="${id}">`, ...parts, '</g>'];
}

function markSvg(mark: ChartMark): string {
  const { kind, row, series, color, box, points, circle } = mark;
  const paint = color ?? '#808080';
  const meaning = `class="${kind}" data-row="${row}" data-series="${series}"`;
  if (kind === 'sector' && circle !== undefined)
    return sectorSvg(mark, `${meaning} fill="${paint}"`);
  if (points !== undefined) {
    return `<polyline ${meaning} points="${pointsText(points)}" fill="none" stroke="${paint}"/>`;
  }
  if (circle !== undefined) {
    const [x, y, radius] = circle.map(length);
    return `<circle ${meaning} cx="${x}" cy="${y}" r="${radius}" fill="${paint}"/>`;
  }
  if (box === undefined) return '';
  if (kind !== 'value') return rectangle(box, `${meaning} fill="${paint}"`);
  const [left, top, right, bottom] = box;
  const [x, y] = [(left + right) / 2, (top + bottom) / 2].map(length);
  return `<circle ${meaning} cx="${x}" cy="${y}" r="2" fill="${paint}"/>`;
}

function sectorSvg({ circle, hole = 0, angles }: ChartMark, attributes: string): string {
  const [x = 0, y = 0, radius = 0] = circle ?? [];
  const [start = 0, end = 0] = angles ?? [];
  const at = (angle: number, far: number): string => {
    const turn = (angle * Math.PI) / 180;
    return `${length(x + far * Math.sin(turn))} ${length(y - far * Math.cos(turn))}`;
  };
  const large = end - start > 180 ? 1 : 0;
  const outer = `A ${length(radius)} ${length(radius)} 0 ${large} 1 ${at(end, radius)}`;
  const inner =
    hole > 0
      ? `L ${at(end, hole)} A ${length(hole)} ${length(hole)} 0 ${large} 0 ${at(start, hole)}`
      : `L ${length(x)} ${length(y)}`;
  return `<path ${attributes} d="M ${at(start, radius)} ${outer} ${inner} Z"/>`;
}

function rectangle(
  [left, top, right, bottom]: readonly [number, number, number, number],
  attributes: string,
): string {
  const place = `x="${length(left)}" y="${length(top)}"`;
  return `<rect ${place} width="${length(right - left)}" height="${length(bottom - top)}" ${attributes}/>`;
}

function lineOf(
  [x1, y1, x2, y2]: readonly [number, number, number, number],
  attributes: string,
): string {
  return `<line x1="${length(x1)}" y1="${length(y1)}" x2="${length(x2)}" y2="${length(y2)}" ${attributes}/>`;
}

function textElement({ text, role, box, angle }: ChartText, anchor: string): string {
  const [left, top, right, bottom] = box;
  const [x, y] = [length((left + right) / 2), length((top + bottom) / 2)];
  const turn = angle === 0 ? '' : ` transform="rotate(${length(-angle)} ${x} ${y})"`;
  const size = length(Math.min(right - left, bottom - top) * 0.8);
  const style = `text-anchor="middle" dominant-baseline="central" font-size="${size}"`;
  const meaning = `class="${role}" data-anchor="${anchor}"`;
  return `<text ${meaning} x="${x}" y="${y}" ${style}${turn}>${escaped(text)}</text>`;
}

function pointsText(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y]) => `${length(x)},${length(y)}`).join(' ');
}

/** Pixels with one digit. */
function length(value: number): number {
  return Math.round(value * 10) / 10;
}

const signs: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => signs[sign] ?? sign);
}
