/** All sweeps of a scaling run as one SVG file that needs nothing else. */
import { drawLogChart, type LogChart, PANEL, xmlText } from './log-chart.ts';
import type { Curve, Sweep } from './scaling.ts';
import { formatSeconds } from './units.ts';

/** Told apart on white, also by most who are color-blind. */
const COLORS = ['#1f5fbf', '#c4600c', '#17803d'] as const;
const [MARGIN, GAP, HEADING] = [16, 24, 44] as const;
const COLUMNS = 2;

/** @param about  machine and date, for under the heading */
export function drawScaling(sweeps: readonly Sweep[], about: string): string {
  const rows = Math.ceil(sweeps.length / COLUMNS);
  const width = 2 * MARGIN + COLUMNS * PANEL.width + (COLUMNS - 1) * GAP;
  const height = 2 * MARGIN + HEADING + rows * PANEL.height + (rows - 1) * GAP;
  const panels = sweeps.map((sweep, i) =>
    drawLogChart(chartOf(sweep), {
      x: MARGIN + (i % COLUMNS) * (PANEL.width + GAP),
      y: MARGIN + HEADING + Math.floor(i / COLUMNS) * (PANEL.height + GAP),
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Time by ${sweeps.map(({ axis }) => axis).join(', ')}">
<style>text{font:12px system-ui,"Segoe UI",Roboto,sans-serif;fill:#4a4d52}.heading{font-size:17px;font-weight:600;fill:#1c1d1f}.title{font-size:14px;font-weight:600;fill:#1c1d1f}.label{fill:#1c1d1f}.grid{stroke:#e4e5e1}</style>
<rect width="${width}" height="${height}" fill="#fff"/>
<text class="heading" x="${MARGIN}" y="${MARGIN + 12}">How the time of a forward and its backward grows (float32, medians, bars p20–p80)</text>
<text x="${MARGIN}" y="${MARGIN + 31}">${xmlText(about)}</text>
${panels.join('\n')}
</svg>
`;
}

function chartOf({ axis, title, curves }: Sweep): LogChart {
  return {
    title,
    xLabel: axis,
    yLabel: 'time',
    xTicks: curves[0]?.sizes ?? [],
    formatX: formatSize,
    formatY: (seconds) => formatSeconds(seconds).replace(/\.0+(?= )/, ''),
    curves: curves.map((curve, i) => ({
      label: `${curve.label}: ${describeGrowth(axis, curve)}`,
      color: COLORS[i % COLORS.length] as string,
      points: curve.sizes.map((size, s) => {
        const { median = Number.NaN, p20 = Number.NaN, p80 = Number.NaN } = curve.seconds[s] ?? {};
        return { x: size, y: median, low: p20, high: p80 };
      }),
    })),
  };
}

/** `time ∝ size^1.9`, and for threads how many times faster the most are. */
export function describeGrowth(axis: string, { seconds, sizes, exponent }: Curve): string {
  if (axis !== 'threads') return `∝ n^${exponent.toFixed(2)}`;
  const [first, last] = [seconds[0]?.median ?? Number.NaN, seconds.at(-1)?.median ?? Number.NaN];
  return `${(first / last).toFixed(2)}× with ${sizes.at(-1) ?? 1}`;
}

/** `32k` for a power of two, else thousands. */
function formatSize(size: number): string {
  if (size < 1000) return `${size}`;
  return size % 1024 === 0 ? `${size / 1024}k` : `${Math.round(size / 1000)}k`;
}
