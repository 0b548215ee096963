/**
 * Curves over logarithmic axes as SVG, written by hand: one panel, to stand among others.
 *
 * The charts of a run's report count linearly from step 0, which would hide all but the largest size.
 */
import { logTicks } from './growth.ts';

interface LogPoint {
  readonly x: number;
  readonly y: number;
  /** Ends of the error bar. */
  readonly low: number;
  readonly high: number;
}

interface LogCurve {
  readonly label: string;
  readonly color: string;
  readonly points: readonly LogPoint[];
}

export interface LogChart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly curves: readonly LogCurve[];
  /** The ticks of the horizontal axis: the sizes that were measured. */
  readonly xTicks: readonly number[];
  readonly formatX: (x: number) => string;
  readonly formatY: (y: number) => string;
}

/** Size of a panel, its title and legend included. */
export const PANEL = { width: 430, height: 300 } as const;
const [LEFT, RIGHT, BOTTOM] = [72, 14, 46] as const;
/** Title, and one line of the legend. */
const [TITLE, LINE] = [30, 18] as const;

export const xmlText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const round = (value: number): number => Math.round(value * 10) / 10;

export function drawLogChart(chart: LogChart, at: { x: number; y: number }): string {
  const { width, height } = PANEL;
  const top = TITLE + LINE * chart.curves.length + 8;
  const points = chart.curves.flatMap((curve) => curve.points);
  const xs = points.map(({ x }) => Math.log(x));
  const ys = points.flatMap(({ low, high }) => [Math.log(low), Math.log(high)]);
  const [xFrom, xTo] = widen(Math.min(...xs), Math.max(...xs));
  const [yFrom, yTo] = widen(Math.min(...ys), Math.max(...ys));
  const toX = (x: number): number =>
    round(LEFT + ((Math.log(x) - xFrom) / (xTo - xFrom)) * (width - LEFT - RIGHT));
  const toY = (y: number): number =>
    round(top + ((yTo - Math.log(y)) / (yTo - yFrom)) * (height - top - BOTTOM));
  const bottom = height - BOTTOM;
  const middle = (LEFT + width - RIGHT) / 2;
  const yTicks = logTicks(Math.exp(yFrom), Math.exp(yTo), 8);
  const parts = [
    `<text class="title" x="${LEFT}" y="18">${xmlText(chart.title)}</text>`,
    ...chart.curves.map(({ label, color }, i) => {
      const y = TITLE + LINE * i + 8;
      return (
        `<line x1="${LEFT}" x2="${LEFT + 22}" y1="${y - 4}" y2="${y - 4}" stroke="${color}" stroke-width="2.5"/>` +
        `<text class="label" x="${LEFT + 29}" y="${y}">${xmlText(label)}</text>`
      );
    }),
    ...yTicks.map(
      (tick) =>
        `<line class="grid" x1="${LEFT}" x2="${width - RIGHT}" y1="${toY(tick)}" y2="${toY(tick)}"/>` +
        `<text class="tick" text-anchor="end" x="${LEFT - 7}" y="${toY(tick) + 4}">${xmlText(chart.formatY(tick))}</text>`,
    ),
    ...chart.xTicks.map(
      (tick) =>
        `<line class="grid" x1="${toX(tick)}" x2="${toX(tick)}" y1="${top}" y2="${bottom}"/>` +
        `<text class="tick" text-anchor="middle" x="${toX(tick)}" y="${bottom + 17}">${xmlText(chart.formatX(tick))}</text>`,
    ),
    `<text class="axis" text-anchor="middle" x="${middle}" y="${bottom + 37}">${xmlText(chart.xLabel)}</text>`,
    `<text class="axis" text-anchor="middle" transform="translate(12 ${(top + bottom) / 2}) rotate(-90)">${xmlText(chart.yLabel)}</text>`,
    ...chart.curves.map((curve) => drawCurve(curve, toX, toY)),
  ];
  return `<g transform="translate(${at.x} ${at.y})">\n${parts.join('\n')}\n</g>`;
}

function drawCurve(
  { color, points }: LogCurve,
  toX: (x: number) => number,
  toY: (y: number) => number,
): string {
  const path = points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${toX(x)} ${toY(y)}`).join('');
  const marks = points.map(
    ({ x, y, low, high }) =>
      `<line x1="${toX(x)}" x2="${toX(x)}" y1="${toY(low)}" y2="${toY(high)}" stroke="${color}" stroke-width="1.5" opacity=".5"/>` +
      `<circle cx="${toX(x)}" cy="${toY(y)}" r="3.5" fill="${color}" stroke="#fff"/>`,
  );
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="2"/>${marks.join('')}`;
}

/** Room around the marks, and some even where there is one value only. */
function widen(from: number, to: number): readonly [number, number] {
  const room = Math.max((to - from) * 0.06, 0.08);
  return [from - room, to + room];
}
