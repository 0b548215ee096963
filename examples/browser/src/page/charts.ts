/** Live line charts in SVG: raw line faint, smoothed line on top, round ticks. */
import { type Child, element, svgElement } from './element.ts';
import { formatNumber, roundTicks, smooth } from './numbers.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Series {
  readonly label: string;
  /** `line` is smoothed over its raw self; `dots` are joined as they are. */
  readonly kind: 'line' | 'dots';
  /** One of the style sheet's colors, from 1. */
  readonly color: number;
  readonly points: readonly Point[];
}

export interface ChartOptions {
  readonly title: string;
  /** One sentence under the title. */
  readonly about: string;
  readonly xLabel: string;
  /** The axes cover at least these. */
  readonly xRange: readonly [number, number];
  readonly yRange?: readonly [number, number];
  readonly format?: (value: number) => string;
}

const WIDTH = 360;
const HEIGHT = 180;
const LEFT = 44;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 34;

interface Scale {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

/** A chart that is drawn again whenever its series have grown. */
export class LiveChart {
  readonly root: HTMLElement;
  readonly #options: ChartOptions;
  readonly #key = element('ul', { class: 'key' });
  readonly #plot = element('div', { class: 'plot' });

  constructor(options: ChartOptions) {
    this.#options = options;
    const { title, about } = options;
    const caption = [element('h3', {}, title), element('p', {}, about), this.#key];
    this.root = element(
      'figure',
      { class: 'chart' },
      element('figcaption', {}, ...caption),
      this.#plot,
    );
    this.draw([]);
  }

  draw(series: readonly Series[]): void {
    const drawable = series
      .map((line) => ({ ...line, points: line.points.filter(({ y }) => Number.isFinite(y)) }))
      .filter(({ points }) => points.length > 0);
    this.#key.replaceChildren(...(drawable.length > 1 ? drawable.map(drawKey) : []));
    this.#plot.replaceChildren(drawPlot(this.#options, drawable));
  }
}

function drawKey({ label, kind, color }: Series): HTMLElement {
  const line = { class: `stroke-${color}`, x1: 0, y1: 5, x2: 22, y2: 5 };
  return element(
    'li',
    {},
    svgElement(
      'svg',
      { viewBox: '0 0 22 10', 'aria-hidden': 'true' },
      svgElement('line', line),
      kind === 'dots' && svgElement('circle', { class: `dot-${color}`, cx: 11, cy: 5, r: 3.5 }),
    ),
    label,
  );
}

function drawPlot(options: ChartOptions, series: readonly Series[]): SVGElement {
  const { xRange, yRange = [0, 0], xLabel, format = formatNumber } = options;
  const points = series.flatMap((line) => line.points);
  const xs = [...xRange, ...points.map(({ x }) => x)];
  const ys = points.length > 0 ? points.map(({ y }) => y) : [0, 1];
  const [xFrom, xTo] = [Math.min(...xs), Math.max(...xs)];
  const yTicks = roundTicks(Math.min(...ys, ...yRange), Math.max(...ys, ...yRange), 4);
  const [yFrom, yTo] = [yTicks[0] ?? 0, yTicks.at(-1) ?? 1];
  const scale: Scale = {
    x: (value) => round(LEFT + ((value - xFrom) / (xTo - xFrom)) * (WIDTH - LEFT - RIGHT)),
    y: (value) => round(TOP + ((yTo - value) / (yTo - yFrom)) * (HEIGHT - TOP - BOTTOM)),
  };
  const label = (x: number, y: number, anchor: string, text: string): SVGElement =>
    svgElement('text', { x, y, 'text-anchor': anchor }, text);
  const xTicks = roundTicks(xFrom, xTo, 5).filter(
    (tick) => tick >= xFrom && tick <= xTo && Number.isInteger(tick),
  );
  return svgElement(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': describe(options, series),
    },
    ...yTicks.flatMap((tick) => {
      const y = scale.y(tick);
      return [
        svgElement('line', { class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }),
        label(LEFT - 6, y + 3.5, 'end', format(tick)),
      ];
    }),
    ...xTicks.map((tick) =>
      label(scale.x(tick), HEIGHT - BOTTOM + 15, 'middle', formatNumber(tick)),
    ),
    label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, 'middle', xLabel),
    ...series.flatMap((line) => drawSeries(line, scale)),
  );
}

function drawSeries({ points, kind, color }: Series, scale: Scale): readonly Child[] {
  const path = (along: readonly Point[], style: string): SVGElement =>
    svgElement('path', {
      class: `${style} stroke-${color}`,
      d: along
        .map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${scale.x(x)} ${scale.y(y)}`)
        .join(''),
    });
  if (kind === 'dots' || points.length === 1) {
    const dots = points.map(({ x, y }) =>
      svgElement('circle', { class: `dot-${color}`, cx: scale.x(x), cy: scale.y(y), r: 3.5 }),
    );
    return [path(points, 'line'), ...dots];
  }
  const reach = Math.min(6, Math.floor(points.length / 10));
  const smoothed = smooth(
    points.map(({ y }) => y),
    reach,
  );
  return [
    reach > 0 && path(points, 'raw'),
    path(
      points.map(({ x }, index) => ({ x, y: smoothed[index] ?? Number.NaN })),
      'line',
    ),
  ];
}

/** Describes the chart in words, for those who cannot see it. */
function describe(
  { title, xLabel, format = formatNumber }: ChartOptions,
  series: readonly Series[],
) {
  const lines = series.map(({ label, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    return `${label}: from ${format(first?.y ?? 0)} to ${format(last?.y ?? 0)}`;
  });
  return `${title} by ${xLabel}. ${lines.join('; ') || 'No values yet'}.`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
