/** Any number of evaluations on one page: tables, curves, slices, and the same tasks side by side. */
import { createHash } from 'node:crypto';
import { drawChart } from '../charts.ts';
import { type Html, html, rawHtml } from '../html.ts';
import { styleSheet } from '../style.ts';
import { drawTable } from '../tables/draw-table.ts';
import type { PageSuite, SideBySide } from './read-side-by-side.ts';
import { suiteCharts } from './side-charts.ts';
import { runTaskFilters } from './side-script.ts';
import { sideStyle } from './side-style.ts';
import { suiteTables } from './side-tables.ts';
import {
  chooseRows,
  drawSideTask,
  drawTaskRows,
  firstSamples,
  type TaskRow,
  taskRows,
} from './side-tasks.ts';

/** How much the page shows. */
export interface SidePageOptions {
  readonly title?: string;
  /** Tasks of each suite that are shown turn by turn, with their images. Default 12. */
  readonly shownTasks?: number;
}

/** The whole page, without anything loaded from elsewhere; one script of its own filters tasks. */
export async function drawSidePage(
  page: SideBySide,
  { title = 'Evaluations side by side', shownTasks = 12 }: SidePageOptions = {},
): Promise<string> {
  const script = `(${runTaskFilters.toString()})();`;
  const sheet = styleSheet + sideStyle;
  const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
  const policy =
    `default-src 'none'; img-src data:; style-src 'sha256-${digest(sheet)}'; ` +
    `script-src 'sha256-${digest(script)}'; base-uri 'none'; form-action 'none'`;
  const parts: Html[] = [];
  for (const suite of page.suites) parts.push(await drawSuite(suite, page, shownTasks));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${rawHtml(sheet)}</style>
</head>
<body>
<header>
<p class="eyebrow">Saccade evaluation report</p>
<h1>${title}</h1>
<ul class="models">${page.models.map(
    ({ label, evaluation }, index) =>
      html`<li><b>${label}</b> <span class="quiet">${evaluation.model.kind}${index === 0 && page.models.length > 1 && ', first'}</span></li>`,
  )}</ul>
${page.suites.length > 1 && html`<nav class="suites" aria-label="Suites">${page.suites.map(({ name }) => html`<a href="#${suiteId(name)}">${name}</a>`)}</nav>`}
${
  page.gaps.length > 0 &&
  html`<div class="gaps"><p><strong>Not everything could be used:</strong></p><ul>${page.gaps.map((gap) => html`<li>${gap}</li>`)}</ul></div>`
}
</header>
<main>
${parts}
</main>
<script>${rawHtml(script)}</script>
</body>
</html>
`.text;
}

function suiteId(name: string): string {
  return `suite-${name.replaceAll(/[^\w-]+/g, '-')}`;
}

async function drawSuite(suite: PageSuite, page: SideBySide, shownTasks: number): Promise<Html> {
  const labels = page.models.map(({ label }) => label);
  const rows = taskRows(suite, page);
  const chosen = chooseRows(rows, shownTasks);
  const samples = firstSamples(suite, page, new Set(chosen.map(({ id }) => id)));
  const tasks: Html[] = [];
  for (const row of chosen) tasks.push(await drawSideTask(row, suite, { labels, samples }));
  const tables = suiteTables(suite, page).filter((table) => table.rows.length > 0);
  const charts = suiteCharts(suite, page);
  return html`<section class="part suite" id="${suiteId(suite.name)}">
<h2>${suite.name}</h2>
<p class="about">${suite.description} ${suite.tasks.length} tasks, ${suite.k === 1 ? 'one sample' : `${suite.k} samples`} of each.</p>
${tables.slice(0, 2).map(drawTable)}
${charts.length > 0 && html`<div class="charts">${charts.map(drawChart)}</div>`}
${tables.slice(2).map(drawTable)}
<h3>Tasks</h3>
${drawFilters(rows, labels)}
${drawTaskRows(rows, { labels, shown: new Set(chosen.map(({ index }) => index)), suite: suite.name })}
<p class="about">${chosen.length === rows.length ? 'All tasks' : `${chosen.length} of ${rows.length} tasks, those on which models differ first,`} with the first sample of every model. Blue: crops that it looked at, in order; yellow: what the question asks about.</p>
${tasks}
</section>`;
}

function drawFilters(rows: readonly TaskRow[], labels: readonly string[]): Html {
  const kinds = [...new Set(rows.flatMap(({ errors }) => errors.flat()))].sort();
  return html`<form class="filters" hidden>
${labels.map(
  (label, index) =>
    html`<label>${label}<select name="outcome-${index}"><option value="">any outcome</option><option value="right">right</option><option value="wrong">wrong</option><option value="none">no sample</option></select></label>`,
)}
${kinds.length > 0 && html`<label>Error<select name="error"><option value="">any</option>${kinds.map((kind) => html`<option value="${kind}">${kind}</option>`)}</select></label>`}
<label>Text<input type="search" name="text"></label>
${labels.length > 1 && html`<label class="check"><input type="checkbox" name="mixed" value="yes">models differ</label>`}
<button type="reset">Show all</button>
<output class="shown" aria-live="polite"></output>
</form>`;
}
