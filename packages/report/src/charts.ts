/** Line charts as SVG written by hand: raw line faint, smoothed line on top, round ticks. */
import { type Html, html } from './html.ts';
import { formatNumber, roundTicks, smooth } from './numbers.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
  /** Ends of an error bar. */
  readonly low?: number;
  readonly high?: number;
}

export interface Series {
  readonly label: string;
  /** `line` is smoothed over its raw self; `dots` are joined as they are, with error bars. */
  readonly kind: 'line' | 'dots';
  /** One of the style sheet's colors, from 1. */
  readonly color: number;
  readonly points: readonly Point[];
}

/** One line chart as data; `drawChart` makes it SVG. */
export interface Chart {
  readonly title: string;
  /** One sentence under the title. */
  readonly about: string;
  readonly xLabel: string;
  readonly series: readonly Series[];
  /** Where one stage ends and the next begins. */
  readonly boundary?: { readonly x: number; readonly label: string };
  /** The vertical axis covers at least this. */
  readonly yRange?: readonly [number, number];
  readonly yFormat?: (value: number) => string;
}

/** Size of a plot, its axes included. */
export const WIDTH = 360;
export const HEIGHT = 196;
const LEFT = 44;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 34;

interface Scale {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

/** The place of a plot in an image of several. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A chart with its heading, or the same place with a sentence if there is nothing to draw. */
export function drawChart(chart: Chart): Html {
  const series = drawableSeries(chart);
  const image = drawPlot(chart) ?? html`<p class="nothing">No values were recorded.</p>`;
  return html`<figure class="chart">
<figcaption><h3>${chart.title}</h3><p>${chart.about}</p>${series.length > 1 && drawKey(series)}</figcaption>
${image}
</figure>`;
}

function drawableSeries(chart: Chart): readonly Series[] {
  return chart.series
    .map((line) => ({ ...line, points: line.points.filter(isDrawable) }))
    .filter((line) => line.points.length > 0);
}

function isDrawable(point: Point): boolean {
  return Number.isFinite(point.x) && Number.isFinite(point.y);
}

function drawKey(series: readonly Series[]): Html {
  return html`<ul class="key">${series.map(
    ({ label, kind, color }) =>
      html`<li><svg viewBox="0 0 22 10" aria-hidden="true"><line class="stroke-${color}" x1="0" y1="5" x2="22" y2="5"/>${
        kind === 'dots' && html`<circle class="dot-${color}" cx="11" cy="5" r="3.5"/>`
      }</svg>${label}</li>`,
  )}</ul>`;
}

/** Axes and lines as an SVG element; nothing if no series has a value. */
export function drawPlot(chart: Chart, place?: Place): Html | undefined {
  const series = drawableSeries(chart);
  if (series.length === 0) return undefined;
  const points = series.flatMap((line) => line.points);
  // Steps are counted from 0, whichever is the first that was recorded.
  const xs = [0, ...points.map(({ x }) => x), ...(chart.boundary ? [chart.boundary.x] : [])];
  const ys = points.flatMap(({ y, low = y, high = y }) => [y, low, high]);
  const xTicks = roundTicks(smallest(xs), largest(xs), 5);
  const yTicks = roundTicks(...yExtent(ys, chart.yRange), 5);
  const [xFrom, xTo] = xExtent(xs);
  const [yFrom, yTo] = [yTicks[0] ?? 0, yTicks.at(-1) ?? 1];
  const scale: Scale = {
    x: (value) => round(LEFT + ((value - xFrom) / (xTo - xFrom)) * (WIDTH - LEFT - RIGHT)),
    y: (value) => round(TOP + ((yTo - value) / (yTo - yFrom)) * (HEIGHT - TOP - BOTTOM)),
  };
  const format = chart.yFormat ?? formatNumber;
  const at = place && html` x="${place.x}" y="${place.y}" width="${WIDTH}" height="${HEIGHT}"`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}"${at} role="img" aria-label="${describe(chart, series)}">
${yTicks.map(
  (tick) =>
    html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${scale.y(tick)}" y2="${scale.y(tick)}"/><text class="tick" text-anchor="end" x="${LEFT - 6}" y="${scale.y(tick) + 3.5}">${format(tick)}</text>`,
)}
${xTicks
  .filter((tick) => tick >= xFrom && tick <= xTo && Number.isInteger(tick))
  .map(
    (tick) =>
      html`<text class="tick" text-anchor="middle" x="${scale.x(tick)}" y="${HEIGHT - BOTTOM + 15}">${formatNumber(tick)}</text>`,
  )}
<text class="axis" text-anchor="middle" x="${LEFT + (WIDTH - LEFT - RIGHT) / 2}" y="${HEIGHT - 4}">${chart.xLabel}</text>
${chart.boundary && drawBoundary(chart.boundary, scale)}
${series.map((line) => (line.kind === 'line' ? drawLine(line, scale) : drawDots(line, scale)))}
</svg>`;
}

function drawBoundary({ x, label }: { x: number; label: string }, scale: Scale): Html {
  const at = scale.x(x);
  const isRight = at > WIDTH * 0.6;
  return html`<line class="boundary" x1="${at}" x2="${at}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/><text class="boundary-label" text-anchor="${isRight ? 'end' : 'start'}" x="${at + (isRight ? -4 : 4)}" y="${TOP + 8}">${label}</text>`;
}

function drawLine({ points, color }: Series, scale: Scale): Html {
  const only = points.length === 1 ? points[0] : undefined;
  if (only)
    return html`<circle class="dot-${color}" cx="${scale.x(only.x)}" cy="${scale.y(only.y)}" r="3"/>`;
  const reach = Math.min(6, Math.floor(points.length / 16));
  const smoothed = smooth(
    points.map(({ y }) => y),
    reach,
  );
  const raw = path(points, scale);
  const over = path(
    points.map(({ x }, index) => ({ x, y: smoothed[index] ?? Number.NaN })),
    scale,
  );
  return html`${reach > 0 && html`<path class="raw stroke-${color}" d="${raw}"/>`}<path class="line stroke-${color}" d="${over}"/>`;
}

function drawDots({ points, color }: Series, scale: Scale): Html {
  return html`<path class="line stroke-${color}" d="${path(points, scale)}"/>${points.map(
    ({ x, y, low, high }) =>
      html`${
        low !== undefined &&
        high !== undefined &&
        html`<line class="bar stroke-${color}" x1="${scale.x(x)}" x2="${scale.x(x)}" y1="${scale.y(low)}" y2="${scale.y(high)}"/>`
      }<circle class="dot-${color}" cx="${scale.x(x)}" cy="${scale.y(y)}" r="3.5"/>`,
  )}`;
}

function path(points: readonly Point[], scale: Scale): string {
  return points
    .map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${scale.x(x)} ${scale.y(y)}`)
    .join('');
}

/** Describes the chart for readers who cannot see it. */
function describe(
  { title, xLabel, yFormat = formatNumber }: Chart,
  series: readonly Series[],
): string {
  const lines = series.map(({ label, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (!first || !last) return label;
    if (points.length === 1) return `${label}: ${yFormat(first.y)} at ${formatNumber(first.x)}`;
    return `${label}: from ${yFormat(first.y)} to ${yFormat(last.y)}`;
  });
  return `${title} by ${xLabel}. ${lines.join('; ')}.`;
}

function xExtent(xs: readonly number[]): readonly [number, number] {
  const [from, to] = [smallest(xs), largest(xs)];
  return to > from ? [from, to] : [from - 1, to + 1];
}

function yExtent(ys: readonly number[], range?: readonly [number, number]): [number, number] {
  const finite = ys.filter(Number.isFinite);
  const all = range ? [...finite, ...range] : finite;
  return [smallest(all), largest(all)];
}

function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
