/** Lines over linear axes that begin at 0, as SVG: one panel, to stand among others. */
import { PANEL, xmlText } from './log-chart.ts';

interface Line {
  readonly label: string;
  readonly color: string;
  /** At steps 1, 2, 3, … */
  readonly values: ArrayLike<number>;
}

export interface LinearChart {
  readonly title: string;
  readonly xLabel: string;
  readonly lines: readonly Line[];
  readonly formatY: (y: number) => string;
}

const [LEFT, RIGHT, BOTTOM] = [72, 14, 46] as const;
/** Title, and one line of the legend. */
const [TITLE, LINE] = [30, 18] as const;
/** Points of a line at most: more than pixels say nothing. */
const POINTS = 400;

const round = (value: number): number => Math.round(value * 10) / 10;

export function drawLinearChart(chart: LinearChart, at: { x: number; y: number }): string {
  const { width, height } = PANEL;
  const top = TITLE + LINE * chart.lines.length + 8;
  const bottom = height - BOTTOM;
  const steps = Math.max(...chart.lines.map(({ values }) => values.length));
  const most = Math.max(1, ...chart.lines.flatMap(({ values }) => finite(values)));
  const yTicks = ticksTo(most * 1.05);
  const yMost = Math.max(yTicks.at(-1) ?? 0, most * 1.05);
  const toX = (x: number): number => round(LEFT + (x / steps) * (width - LEFT - RIGHT));
  const toY = (y: number): number => round(bottom - (y / yMost) * (bottom - top));
  const parts = [
    `<text class="title" x="${LEFT}" y="18">${xmlText(chart.title)}</text>`,
    ...chart.lines.map(({ label, color }, i) => {
      const y = TITLE + LINE * i + 8;
      return (
        `<line x1="${LEFT}" x2="${LEFT + 22}" y1="${y - 4}" y2="${y - 4}" stroke="${color}" stroke-width="2.5"/>` +
        `<text class="label" x="${LEFT + 29}" y="${y}">${xmlText(label)}</text>`
      );
    }),
    ...yTicks.map(
      (tick) =>
        `<line class="grid" x1="${LEFT}" x2="${width - RIGHT}" y1="${toY(tick)}" y2="${toY(tick)}"/>` +
        `<text text-anchor="end" x="${LEFT - 7}" y="${toY(tick) + 4}">${xmlText(chart.formatY(tick))}</text>`,
    ),
    ...ticksTo(steps).map(
      (tick) =>
        `<text text-anchor="middle" x="${toX(tick)}" y="${bottom + 17}">${tick.toLocaleString('en')}</text>`,
    ),
    `<text text-anchor="middle" x="${(LEFT + width - RIGHT) / 2}" y="${bottom + 37}">${xmlText(chart.xLabel)}</text>`,
    ...chart.lines.map(({ color, values }) => {
      const path = thin(values).map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${toX(x)} ${toY(y)}`);
      return `<path d="${path.join('')}" fill="none" stroke="${color}" stroke-width="1.6" stroke-linejoin="round"/>`;
    }),
  ];
  return `<g transform="translate(${at.x} ${at.y})">\n${parts.join('\n')}\n</g>`;
}

/** 0 and round steps of 1, 2 or 5 · 10ⁿ up to `most`, about five. */
export function ticksTo(most: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(most / 5));
  const step = [1, 2, 5, 10].find((factor) => most / (factor * power) <= 6) ?? 10;
  const ticks: number[] = [];
  for (let i = 0; i * step * power <= most * (1 + 1e-9); i++) ticks.push(i * step * power);
  return ticks;
}

const finite = (values: ArrayLike<number>): number[] => Array.from(values).filter(Number.isFinite);

/** Least and largest of each run of neighbors, so that no peak is lost. */
function thin(values: ArrayLike<number>): readonly (readonly [x: number, y: number])[] {
  const points = Array.from(values)
    .map((y, i) => [i + 1, y] as const)
    .filter(([, y]) => Number.isFinite(y));
  const run = Math.ceil((2 * points.length) / POINTS);
  if (run <= 2) return points;
  return Array.from({ length: Math.ceil(points.length / run) }, (_, i) => {
    const part = points.slice(i * run, (i + 1) * run).sort((a, b) => a[1] - b[1]);
    const ends = [part[0], part.at(-1)].filter((point) => point !== undefined);
    return ends.sort((a, b) => a[0] - b[0]);
  }).flat();
}
