/** An experiment on one page, and as one image: a section a part, a chart a metric, a curve a run. */
import { createHash } from 'node:crypto';
import {
  boundaryOf,
  type Chart,
  type ComparedRun,
  comparisonTable,
  drawChart,
  drawChartGrid,
  formatPercent,
  type Html,
  html,
  numberIn,
  rawHtml,
  rowsOf,
  styleSheet,
} from '@saccade/report';
import type { Experiment, ExperimentCurve, ExperimentTradeOff } from './experiment.ts';
import { drawOutcomes } from './outcomes.ts';
import type { PartResult } from './run-experiment.ts';
import { drawTradeOffTable, tradeOffChart } from './trade-off.ts';

/** Steps at either end of a run whose means the table compares. */
const ENDS = 5;

/** The image: headings, legends and charts of all parts. */
export function drawExperimentCurves(
  experiment: Experiment,
  results: readonly PartResult[],
): string {
  const { tradeOff } = experiment;
  const sections = tradeOff && [
    {
      heading: experiment.title,
      labels: results.map(({ part }) => part.title),
      charts: [tradeOffChart(tradeOff, results)],
    },
  ];
  return drawChartGrid(experiment.title, [
    ...(sections ?? []),
    ...results.map(({ part, runs }) => ({
      heading: part.title,
      labels: part.variants.map(({ label }) => label),
      charts: part.curves.map((curve) => chartOf(curve, part.variants, runs)),
    })),
  ]);
}

/** The page, without anything outside of it and without scripts. */
export function drawExperimentPage(
  experiment: Experiment,
  results: readonly PartResult[],
  command: string,
): string {
  const sheet = styleSheet + MORE_STYLE;
  const style = createHash('sha256').update(sheet).digest('base64');
  const policy = `default-src 'none'; img-src data:; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${experiment.title}</title>
<style>${rawHtml(sheet)}</style>
</head>
<body>
<header>
<p class="eyebrow">Saccade experiment</p>
<h1>${experiment.title}</h1>
<p class="lead">${experiment.description}</p>
<pre>${command}</pre>
</header>
<main>
${experiment.tradeOff && drawTradeOff(experiment.tradeOff, results)}
${results.map(drawPart)}
</main>
</body>
</html>
`.text;
}

function drawTradeOff(tradeOff: ExperimentTradeOff, results: readonly PartResult[]): Html {
  return html`<section class="part">
<h2>${tradeOff.title}</h2>
<div class="charts">${drawChart(tradeOffChart(tradeOff, results))}</div>
<div class="scroll">${drawTradeOffTable(tradeOff, results)}</div>
</section>`;
}

function drawPart({ part, runs }: PartResult): Html {
  const missing = part.variants.length - runs.length;
  return html`<section class="part">
<h2>${part.title}</h2>
<p class="about">${part.about}</p>
<ul>${part.variants.map(({ label, about }) => html`<li><b>${label}</b>: ${about}</li>`)}</ul>
${missing > 0 && html`<p class="note">${missing} of ${part.variants.length} runs have not ended yet.</p>`}
<p class="about">Training rollouts, before anything is filtered. Faint: as recorded. Bold: mean of neighboring steps. RL step 0 is the end of the cold start, which all runs share.</p>
<div class="charts">${part.curves.map((curve) => drawChart(chartOf(curve, part.variants, runs)))}</div>
<h3>First ${ENDS} steps → last ${ENDS} steps, means</h3>
<div class="scroll">${drawEnds(part.curves, runs)}</div>
${drawOutcomes({ part, runs })}
<h3>Held-out tasks</h3>
<pre>${comparisonTable(runs)}</pre>
</section>`;
}

function chartOf(
  { metric, title, about, unit, over = 'steps' }: ExperimentCurve,
  variants: readonly { readonly label: string }[],
  runs: readonly ComparedRun[],
): Chart {
  return {
    title,
    about,
    xLabel: over === 'steps' ? 'RL step' : 'seconds',
    yRange: unit === 'share' ? [0, 1] : [0, 0],
    ...(unit === 'share' && { yFormat: (share: number) => formatPercent(share, 0) }),
    series: runs.map(({ label, metrics }) => ({
      label,
      kind: 'line',
      color: 1 + variants.findIndex((variant) => variant.label === label),
      points: over === 'steps' ? pointsOf(metrics, metric) : pointsInTime(metrics, metric),
    })),
  };
}

function pointsOf(metrics: ComparedRun['metrics'], metric: string) {
  const boundary = boundaryOf(metrics);
  return rowsOf(metrics, 'rl')
    .map((row) => ({ x: row.step - boundary, y: numberIn(row, metric) }))
    .filter(({ y }) => Number.isFinite(y));
}

/** The same over the seconds that its steps and those before took. */
function pointsInTime(metrics: ComparedRun['metrics'], metric: string) {
  let x = 0;
  return rowsOf(metrics, 'rl')
    .map((row) => {
      x += numberIn(row, 'step_time');
      return { x, y: numberIn(row, metric) };
    })
    .filter(({ y }) => Number.isFinite(y));
}

function drawEnds(curves: readonly ExperimentCurve[], runs: readonly ComparedRun[]): Html {
  return html`<table><thead><tr><th>metric</th>${runs.map(({ label }) => html`<th class="n">${label}</th>`)}</tr></thead>
<tbody>${curves.map(
    (curve) =>
      html`<tr><th>${curve.title}</th>${runs.map(({ metrics }) => html`<td class="n">${endsOf(metrics, curve)}</td>`)}</tr>`,
  )}</tbody></table>`;
}

/** `31.0 % → 78.0 %`; a dash where nothing was recorded. */
export function endsOf(
  metrics: ComparedRun['metrics'],
  { metric, unit }: Pick<ExperimentCurve, 'metric' | 'unit'>,
): string {
  const values = pointsOf(metrics, metric).map(({ y }) => y);
  if (values.length === 0) return '–';
  const mean = (some: readonly number[]) => some.reduce((sum, y) => sum + y, 0) / some.length;
  const format = (value: number) => (unit === 'share' ? formatPercent(value) : value.toFixed(2));
  return `${format(mean(values.slice(0, ENDS)))} → ${format(mean(values.slice(-ENDS)))}`;
}

/** Colors of more runs than a report has, and room around lists and headings. */
const MORE_STYLE = `
.part > ul { margin: 0 0 .8rem 1.2rem; font-size: .9rem; }
.part > h3 { margin: 1.4rem 0 .4rem; }
:root { --three: #17803d; --four: #8e3b9e; --five: #a3232b; --six: #5d6168; }
@media (prefers-color-scheme: dark) {
  :root { --three: #6fd192; --four: #d69be4; --five: #ff9d98; --six: #a2a6ad; }
}
${['three', 'four', 'five', 'six'].map((name, i) => `.stroke-${i + 3} { stroke: var(--${name}); fill: none; }\n.dot-${i + 3} { fill: var(--${name}); stroke: var(--card); stroke-width: 1.25; }`).join('\n')}
`;
