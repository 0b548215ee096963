/** A plan as one page that loads nothing: numbers, curves, tables, and what is assumed. */
import { createHash } from 'node:crypto';
import { listSettings } from '@saccade/core/settings';
import { drawChart, formatNumber, formatPercent, html, rawHtml, styleSheet } from '@saccade/report';
import { type CostDocument, costSettings } from './costs-file.ts';
import type { GpuPlan } from './plan.ts';

const percent = (share: number): string => formatPercent(share, 0);
const round = (value: number): string => formatNumber(Number(value.toPrecision(3)));

const own = `
.plan-table { margin-top: 1rem; }
.plan-table table { min-width: 44rem; }
.plan-table .scroll { padding: 0 1rem .9rem; }
.assumptions { padding-left: 1.1rem; font-size: .9rem; max-width: 46rem; }
`;

/** What people read of a plan, row by row; the same in the terminal and on the page. */
export function planRows(plans: readonly GpuPlan[]): readonly (readonly string[])[] {
  const head = [
    'GPUs',
    'learner',
    'engines',
    'steps/h',
    'tokens/s',
    'learner busy',
    'engines',
    'tools',
  ];
  return [
    [...head, 'staleness', 'η enough', 'held up by'],
    ...plans.map(({ gpus, size, report, bottleneck, gains, enoughStaleness }) => [
      String(gpus),
      String(size.learnerGpus),
      String(size.engines),
      round(report.stepsPerHour),
      round(report.sampledTokensPerSecond),
      percent(report.learner.utilization),
      percent(report.engines.utilization),
      percent(report.tools.utilization),
      report.meanStaleness.toFixed(2),
      String(enoughStaleness),
      gains[bottleneck] === undefined
        ? bottleneck
        : `${bottleneck} (twice as many: +${percent(gains[bottleneck])})`,
    ]),
  ];
}

/** The page. */
export function drawPlanPage(
  plans: readonly GpuPlan[],
  { document, title }: { readonly document: CostDocument; readonly title: string },
): string {
  const sheet = styleSheet + own;
  const digest = createHash('sha256').update(sheet).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  const line = (label: string, color: number, of: (plan: GpuPlan) => number) => ({
    label,
    color,
    kind: 'dots' as const,
    points: plans.map((plan) => ({ x: plan.gpus, y: of(plan) })),
  });
  const charts = [
    {
      title: 'Steps per hour',
      about: 'Of the best division that was found.',
      xLabel: 'GPUs',
      yRange: [0, 0] as const,
      series: [line('steps', 1, ({ report }) => report.stepsPerHour)],
    },
    {
      title: 'How busy each part is',
      about: 'Share of its best speed, or of its time.',
      xLabel: 'GPUs',
      yRange: [0, 1] as const,
      yFormat: percent,
      series: [
        line('learner', 1, ({ report }) => report.learner.utilization),
        line('engines', 2, ({ report }) => report.engines.utilization),
        line('tools', 3, ({ report }) => report.tools.utilization),
      ],
    },
    {
      title: 'Steps per hour by staleness',
      about: 'The bound η on the staleness; 0 is synchronous; late groups are waited for.',
      xLabel: 'η, steps',
      yRange: [0, 0] as const,
      series: plans.slice(0, 6).map(({ gpus, staleness }, i) => ({
        label: `${gpus} GPUs`,
        kind: 'dots' as const,
        color: i + 1,
        points: staleness.map(({ maxStaleness: x, stepsPerHour: y }) => ({ x, y })),
      })),
    },
  ];
  const [head = [], ...rows] = planRows(plans);
  const gainNames = Object.keys(plans[0]?.gains ?? {});
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
<header><p class="eyebrow">Saccade plan</p><h1>${title}</h1>
<p class="lead">A simulation, not a measurement. Scheduler ${document.scheduler.name}, groups of ${document.costs.training.groupSize}.</p></header>
<main>
${table('What each cluster gives', head, rows)}
<section class="part"><h2>Curves</h2><div class="charts">${charts.map(drawChart)}</div></section>
<section class="part"><h2>What would help</h2><p class="about">Steps per hour gained with twice as many of one part, or half the seconds of publishing, simulated one at a time.</p>
${table(
  'Gains',
  ['GPUs', ...gainNames],
  plans.map(({ gpus, gains }) => [
    String(gpus),
    ...gainNames.map((name) => `${gains[name] === undefined ? '–' : percent(gains[name])}`),
  ]),
)}</section>
<section class="part"><h2>Queues and waiting</h2>
${table(
  'Over the steps that count',
  [
    'GPUs',
    'tools waiting',
    'seconds each',
    'learner idle',
    'engines stood still',
    'staleness of what was trained on',
  ],
  plans.map(({ gpus, report }) => [
    String(gpus),
    `${round(report.tools.meanQueue)} (most ${report.tools.mostQueue})`,
    round(report.tools.meanWaitSeconds),
    percent(1 - report.learner.utilization),
    percent(report.publishing),
    staleness(report.staleness),
  ]),
)}</section>
<section class="part"><h2>Assumptions</h2><ul class="assumptions">${[
    ...document.assumptions,
    'The learner scales by a stated efficiency for each doubling, and by FSDP’s gathering over a stated bandwidth; neither was measured at this size.',
    'Engines are independent; requests go to the one with the fewest; failures and retries do not happen.',
    'Evaluations, checkpoints and publishing hold up all engines.',
  ].map((sentence) => html`<li>${sentence}</li>`)}</ul>
${table(
  'Costs',
  ['Cost', 'Value', 'Unit', 'Meaning'],
  listCosts(document).map((row) => [...row]),
)}</section>
</main>
</body>
</html>
`.text;
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]) {
  return html`<div class="card plan-table"><div class="scroll" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div></div>`;
}

function staleness(counts: readonly number[]): string {
  const all = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count, steps) => `${steps}: ${percent(count / Math.max(1, all))}`).join(', ');
}

function listCosts({ costs }: CostDocument): readonly (readonly string[])[] {
  return listSettings(costSettings).map(({ path, unit, about }) => {
    let value: unknown = costs;
    for (const key of path.split('.')) value = (value as Record<string, unknown>)[key];
    const text = typeof value === 'number' ? formatNumber(value) : JSON.stringify(value);
    return [path, text, unit, about];
  });
}
