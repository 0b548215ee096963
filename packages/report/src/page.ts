/** The report as one page: what the run was, what it reached, its curves, its tasks, its settings. */
import { createHash } from 'node:crypto';
import { drawChart } from './charts.ts';
import { choosePairs, countOutcomes, type PairOutcome, pairTasks } from './choose-pairs.ts';
import { boundaryOf, chartsOf, evaluationsOf, numberIn, rowsOf, summarize } from './curves.ts';
import { drawHeadline } from './headline.ts';
import { type Html, html, rawHtml } from './html.ts';
import { formatDuration, formatNumber } from './numbers.ts';
import type { RunRecord } from './read-run.ts';
import { styleSheet } from './style.ts';
import { drawTaskPair, outcomeNames } from './task-pair.ts';

/** Tasks shown; the page stays under a few megabytes. */
const SHOWN_TASKS = 12;
/** The first ones are unfolded. */
const OPEN_TASKS = 3;

export async function drawPage(run: RunRecord): Promise<string> {
  const style = createHash('sha256').update(styleSheet).digest('base64');
  // No scripts at all, and no style but this one: text of a model can do nothing here.
  const policy = `default-src 'none'; img-src data:; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${titleOf(run)}</title>
<style>${rawHtml(styleSheet)}</style>
</head>
<body>
${drawHeader(run)}
<main>
${drawHeadline(evaluationsOf(run.metrics))}
<section class="part">
<h2>Curves</h2>
<p class="about">Faint: as recorded. Bold: mean of neighboring steps. RL step 0 is the end of the cold start.</p>
<div class="charts">${chartsOf(run.metrics).map(drawChart)}</div>
</section>
${await drawTasks(run)}
<section class="part">
<h2>The run in detail</h2>
${run.hasProfile && html`<p class="about">Where its time went: <a href="profile.html">profile.html</a>.</p>`}
${drawMetrics(run)}
${drawTable('Configuration', 'Setting', flatten(run.config ?? {}))}
${drawTable('Machine and versions', 'Fact', flatten(run.environment ?? {}))}
</section>
</main>
</body>
</html>
`;
  return page.text;
}

function titleOf({ config, directory }: RunRecord): string {
  const recipe = config?.recipe ?? directory.split('/').filter(Boolean).at(-1) ?? 'run';
  return config?.seed === undefined ? recipe : `${recipe}, seed ${config.seed}`;
}

function drawHeader(run: RunRecord): Html {
  const { config, environment, metrics, gaps } = run;
  const parameters = environment?.parameters;
  const what = [
    config?.taskSet && `task set ${config.taskSet.name}`,
    config?.model && `model ${config.model.name}`,
    typeof parameters === 'number' && `${parameters.toLocaleString('en')} parameters`,
    config?.algorithm && `algorithm ${config.algorithm.name}`,
    config?.backend && `backend ${config.backend.name}`,
  ];
  const where = ['machine', 'platform', 'node', 'sandboxTier'].map((key) => {
    const value = environment?.[key];
    if (typeof value !== 'string') return undefined;
    if (key === 'node') return `Node ${value.replace(/^v/, '')}`;
    return key === 'sandboxTier' ? `sandbox ${value}` : value;
  });
  const startedAt = environment?.startedAt;
  const started = typeof startedAt === 'string' ? [`started ${readableTime(startedAt)}`] : [];
  return html`<header>
<p class="eyebrow">Saccade run report</p>
<h1>${titleOf(run)}</h1>
<p class="lead">${[...what, ...workDone(metrics)].filter(Boolean).join(' · ')}</p>
<p class="lead">${[...where, ...started].filter(Boolean).join(' · ')}</p>
${
  gaps.length > 0 &&
  html`<div class="gaps"><p><strong>Not everything is here (yet):</strong></p><ul>${gaps.map((gap) => html`<li>${gap}</li>`)}</ul></div>`
}
</header>`;
}

function workDone(metrics: RunRecord['metrics']): readonly string[] {
  const rl = rowsOf(metrics, 'rl');
  const done: string[] = [];
  if (rowsOf(metrics, 'sft').length > 0) done.push(`${boundaryOf(metrics)} SFT updates`);
  if (rl.length > 0) done.push(`${rl.length} RL steps`);
  const seconds = [...rowsOf(metrics, 'sft'), ...rl]
    .map((row) => numberIn(row, 'step_time'))
    .filter(Number.isFinite)
    .reduce((sum, value) => sum + value, 0);
  if (seconds > 0) done.push(`${formatDuration(seconds)} in steps`);
  return done;
}

/** `2026-03-04T05:06:07.890Z` as `2026-03-04 05:06 UTC`; anything else as it is. */
function readableTime(text: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/.exec(text);
  return parts ? `${parts[1]} ${parts[2]} UTC` : text;
}

async function drawTasks(run: RunRecord): Promise<Html> {
  const pairs = pairTasks(run);
  if (pairs.length === 0) {
    return html`<section class="part"><h2>Held-out tasks</h2><p class="about">No trajectories of an evaluation are kept yet.</p></section>`;
  }
  const chosen = choosePairs(pairs, SHOWN_TASKS);
  const drawn: Html[] = [];
  for (const [index, pair] of chosen.entries()) {
    drawn.push(await drawTaskPair(pair, { index, isOpen: index < OPEN_TASKS }));
  }
  const isWhole = chosen.length === pairs.length;
  return html`<section class="part">
<h2>Held-out tasks before and after</h2>
<p class="about">The same tasks with the policy after the cold start and after the last RL step.
${isWhole ? `All ${pairs.length} kept tasks are shown` : `${chosen.length} of ${pairs.length} kept tasks are shown, at least one of each outcome`}, changed outcomes first.</p>
${drawOutcomes(countOutcomes(pairs), countOutcomes(chosen))}
<ul class="legend">
<li><svg viewBox="0 0 34 24" aria-hidden="true"><rect class="box crop" x="7" y="5" width="20" height="14"/></svg>crop the model looked at, numbered in order</li>
<li><svg viewBox="0 0 34 24" aria-hidden="true"><rect class="box truth" x="7" y="5" width="20" height="14"/></svg>around what the question asks about</li>
</ul>
${drawn}
</section>`;
}

type Counts = Readonly<Record<PairOutcome, number>>;

function drawOutcomes(all: Counts, shown: Counts): Html {
  const outcomes = (Object.keys(outcomeNames) as PairOutcome[]).filter(
    (outcome) => outcome !== 'oneSided' || all.oneSided > 0,
  );
  return html`<table class="outcomes">
<thead><tr><th scope="col">Outcome before → after</th><th scope="col" class="n">kept</th><th scope="col" class="n">shown</th></tr></thead>
<tbody>${outcomes.map(
    (outcome) =>
      html`<tr><th scope="row">${outcomeNames[outcome]}</th><td class="n">${all[outcome]}</td><td class="n">${shown[outcome]}</td></tr>`,
  )}</tbody>
</table>`;
}

function drawMetrics({ metrics }: RunRecord): Html | undefined {
  if (metrics.length === 0) return undefined;
  return html`<details class="fold"><summary>Every metric, first to last</summary><div class="scroll"><table>
<thead><tr><th scope="col">Stage</th><th scope="col">Metric</th><th scope="col" class="n">rows</th><th scope="col" class="n">first</th><th scope="col" class="n">last</th><th scope="col" class="n">least</th><th scope="col" class="n">most</th></tr></thead>
<tbody>${summarize(metrics).map(
    ({ stage, name, rowCount, first, last, least, most }) =>
      html`<tr><td>${stage}</td><th scope="row"><code>${name}</code></th><td class="n">${rowCount}</td>${[first, last, least, most].map((value) => html`<td class="n">${formatNumber(value)}</td>`)}</tr>`,
  )}</tbody></table></div></details>`;
}

type Entry = readonly [name: string, value: string];

function drawTable(title: string, column: string, entries: readonly Entry[]): Html | undefined {
  if (entries.length === 0) return undefined;
  return html`<details class="fold"><summary>${title}</summary><div class="scroll"><table>
<thead><tr><th scope="col">${column}</th><th scope="col">Value</th></tr></thead>
<tbody>${entries.map(([name, value]) => html`<tr><th scope="row"><code>${name}</code></th><td>${value}</td></tr>`)}</tbody>
</table></div></details>`;
}

/** Nested settings under dotted names, as `--set` takes them. */
function flatten(value: object, prefix = ''): readonly Entry[] {
  return Object.entries(value).flatMap(([name, part]: [string, unknown]): readonly Entry[] => {
    if (typeof part === 'object' && part !== null && !Array.isArray(part)) {
      return flatten(part, `${prefix}${name}.`);
    }
    return [[`${prefix}${name}`, typeof part === 'string' ? part : JSON.stringify(part)]];
  });
}
