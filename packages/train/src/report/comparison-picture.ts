/** Curves of several runs as one SVG file that needs nothing else: for a README or a slide. */
import { drawPlot, HEIGHT, WIDTH } from './charts.ts';
import { type ComparedRun, comparisonCharts } from './comparison.ts';
import { type Html, html } from './html.ts';

/** Told apart on white, also by most who are colour-blind. */
const COLOURS = ['#1f5fbf', '#c4600c', '#17803d', '#8e3b9e', '#a3232b', '#5d6168'] as const;

/** Runs that one picture can tell apart: every colour once whole and once dashed. */
export const MOST_RUNS: number = 2 * COLOURS.length;

const MARGIN = 16;
const GAP = 20;
/** Charts side by side. */
const COLUMNS = 2;
/** Height of a row of the legend, and of a chart's title. */
const LEGEND = 26;
const TITLE = 46;
/** Width of a letter of the legend, about. */
const LETTER = 7;

export function drawComparison(runs: readonly ComparedRun[]): string {
  const charts = comparisonCharts(runs);
  const width = 2 * MARGIN + COLUMNS * WIDTH + (COLUMNS - 1) * GAP;
  const legend = drawLegend(runs, width);
  const rows = Math.ceil(charts.length / COLUMNS);
  const height = 2 * MARGIN + legend.height + rows * (TITLE + HEIGHT);
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>Curves of ${runs.map(({ label }) => label).join(', ')}</title>
<style>${style()}</style>
<rect class="page" width="${width}" height="${height}"/>
${legend.picture}
${charts.map((chart, i) => {
  const x = MARGIN + (i % COLUMNS) * (WIDTH + GAP);
  const row = Math.floor(i / COLUMNS);
  const top = MARGIN + legend.height + TITLE + row * (TITLE + HEIGHT);
  return html`<text class="title" x="${x}" y="${top - 24}">${chart.title}</text><text class="about" x="${x}" y="${top - 9}">${chart.about}</text>
${drawPlot(chart, { x, y: top }) ?? html`<text class="about" x="${x}" y="${top + HEIGHT / 2}">No values were recorded.</text>`}`;
})}
</svg>
`);
}

/** Names beside their lines, in as many rows as they need. */
function drawLegend(runs: readonly ComparedRun[], width: number) {
  let x = MARGIN;
  let y = MARGIN + 10;
  const entries = runs.map(({ label }, i) => {
    const length = 30 + LETTER * label.length + 24;
    if (x > MARGIN && x + length > width) {
      x = MARGIN;
      y += LEGEND;
    }
    const at = x;
    x += length;
    return html`<line class="line stroke-${i + 1}" x1="${at}" x2="${at + 22}" y1="${y - 4}" y2="${y - 4}"/><circle class="dot-${i + 1}" cx="${at + 11}" cy="${y - 4}" r="3.5"/><text class="label" x="${at + 30}" y="${y}">${label}</text>`;
  });
  return { picture: html`${entries}`, height: y - MARGIN - 10 + LEGEND };
}

function style(): Html {
  const rules = Array.from({ length: MOST_RUNS }, (_, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const dashes = i < COLOURS.length ? '' : ';stroke-dasharray:5 3';
    return `.stroke-${i + 1}{stroke:${colour};fill:none${dashes}}.dot-${i + 1}{fill:${colour};stroke:#fff;stroke-width:1.25}`;
  });
  return html`.page{fill:#fff}text{font:10.5px system-ui,"Segoe UI",Roboto,sans-serif;fill:#5d6168}.title{font-size:15px;font-weight:600;fill:#1c1d1f}.about{font-size:12px}.label{font-size:13px;fill:#1c1d1f}.grid{stroke:#dfe0dc}.line{stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.raw{stroke-width:1;opacity:.25}.bar{stroke-width:1.5;opacity:.45}${rules}`;
}
