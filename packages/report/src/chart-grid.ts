/** Charts of several runs as one SVG file that needs nothing else: for a README or a slide. */
import { type Chart, drawPlot, HEIGHT, WIDTH } from './charts.ts';
import { type Html, html } from './html.ts';

/** Told apart on white, also by most who are color-blind. */
const COLORS = ['#1f5fbf', '#c4600c', '#17803d', '#8e3b9e', '#a3232b', '#5d6168'] as const;

/** Runs that one image can tell apart: every color once whole and once dashed. */
export const MOST_RUNS: number = 2 * COLORS.length;

const MARGIN = 16;
const GAP = 20;
/** Charts side by side. */
const COLUMNS = 2;
/** Height of a section's heading with room above it, of a row of its legend, and of a chart's title. */
const HEADING = 50;
const LEGEND = 26;
const TITLE = 46;
/** Width of a letter of the legend, about. */
const LETTER = 7;
/** Letters of a chart's sentence that fit into a line, and the height of each line more. */
const LINE_LETTERS = 62;
const LINE = 15;

/** Charts with one legend; a series has the color of its label's place. */
export interface ChartSection {
  readonly heading?: string;
  readonly labels: readonly string[];
  readonly charts: readonly Chart[];
}

/** The sections one below the other. */
export function drawChartGrid(title: string, sections: readonly ChartSection[]): string {
  const width = 2 * MARGIN + COLUMNS * WIDTH + (COLUMNS - 1) * GAP;
  let height = MARGIN;
  const drawn = sections.map((section) => {
    const { image, bottom } = drawSection(section, height, width);
    height = bottom;
    return image;
  });
  height += MARGIN;
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${title}</title>
<style>${style()}</style>
<rect class="page" width="${width}" height="${height}"/>
${drawn}
</svg>
`);
}

function drawSection({ heading, labels, charts }: ChartSection, start: number, width: number) {
  const top = start + (heading === undefined ? 0 : HEADING);
  const legend = drawLegend(labels, width, top);
  const first = top + legend.height;
  const rows = Math.ceil(charts.length / COLUMNS);
  const abouts = charts.map(({ about }) => linesOf(about));
  const lines = Math.max(1, ...abouts.map(({ length }) => length));
  const title = TITLE + (lines - 1) * LINE;
  const image = html`${heading !== undefined && html`<text class="heading" x="${MARGIN}" y="${start + 34}">${heading}</text>`}
${legend.image}
${charts.map((chart, i) => {
  const x = MARGIN + (i % COLUMNS) * (WIDTH + GAP);
  const y = first + title + Math.floor(i / COLUMNS) * (title + HEIGHT);
  const about = y - 9 - (lines - 1) * LINE;
  return html`<text class="title" x="${x}" y="${about - 15}">${chart.title}</text>${(
    abouts[i] ?? []
  ).map((line, row) => html`<text class="about" x="${x}" y="${about + row * LINE}">${line}</text>`)}
${drawPlot(chart, { x, y }) ?? html`<text class="about" x="${x}" y="${y + HEIGHT / 2}">No values were recorded.</text>`}`;
})}`;
  return { image, bottom: first + rows * (title + HEIGHT) };
}

/** A sentence in lines that fit over a chart. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > LINE_LETTERS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Names beside their lines, in as many rows as they need. */
function drawLegend(labels: readonly string[], width: number, top: number) {
  let x = MARGIN;
  let y = top + 10;
  const entries = labels.map((label, i) => {
    const length = 30 + LETTER * label.length + 24;
    if (x > MARGIN && x + length > width) {
      x = MARGIN;
      y += LEGEND;
    }
    const at = x;
    x += length;
    return html`<line class="line stroke-${i + 1}" x1="${at}" x2="${at + 22}" y1="${y - 4}" y2="${y - 4}"/><circle class="dot-${i + 1}" cx="${at + 11}" cy="${y - 4}" r="3.5"/><text class="label" x="${at + 30}" y="${y}">${label}</text>`;
  });
  return { image: html`${entries}`, height: y - top - 10 + LEGEND };
}

function style(): Html {
  const rules = Array.from({ length: MOST_RUNS }, (_, i) => {
    const color = COLORS[i % COLORS.length];
    const dashes = i < COLORS.length ? '' : ';stroke-dasharray:5 3';
    return `.stroke-${i + 1}{stroke:${color};fill:none${dashes}}.dot-${i + 1}{fill:${color};stroke:#fff;stroke-width:1.25}`;
  });
  return html`.page{fill:#fff}text{font:10.5px system-ui,"Segoe UI",Roboto,sans-serif;fill:#5d6168}.heading{font-size:18px;font-weight:600;fill:#1c1d1f}.title{font-size:15px;font-weight:600;fill:#1c1d1f}.about{font-size:12px}.label{font-size:13px;fill:#1c1d1f}.grid{stroke:#dfe0dc}.line{stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.raw{stroke-width:1;opacity:.25}.bar{stroke-width:1.5;opacity:.45}${rules}`;
}
