/** `audit.html` of a run: the findings, their curves over steps, and the code of examples. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Audited, Finding } from '@saccade/rewards';
import { nodeFileSystem, writeDurably } from '@saccade/run-store';
import { codeOf, isToolUse } from '@saccade/trajectory';
import type { RunAudit } from './audit-run.ts';
import { type Chart, drawChart } from './charts.ts';
import { type Html, html, rawHtml } from './html.ts';
import { formatDifference, formatPercent } from './numbers.ts';
import { styleSheet } from './style.ts';

/** Trajectories whose code is shown, per detector. */
const SHOWN_EXAMPLES = 3;

/** Writes the page beside the run's report and gives its path. */
export async function writeAudit(audit: RunAudit): Promise<string> {
  const path = join(audit.directory, 'audit.html');
  // Aside and renamed: a page that somebody has open is whole, before and after.
  writeDurably(nodeFileSystem, path, drawAudit(audit));
  return path;
}

/** The whole page, without anything loaded from elsewhere. */
function drawAudit(audit: RunAudit): string {
  const style = createHash('sha256').update(styleSheet).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'`;
  const { report, files, gaps } = audit;
  const alarms = report.findings.filter(({ isAlarm }) => isAlarm);
  const name = audit.directory.split('/').filter(Boolean).at(-1) ?? 'run';
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit of ${name}</title>
<style>${rawHtml(styleSheet)}</style>
</head>
<body>
<header>
<p class="eyebrow">Saccade reward audit</p>
<h1>${name}</h1>
<p class="lead">${report.trajectoryCount} kept trajectories in ${report.groupCount} groups · ${describeFiles(files)}</p>
<p class="lead">${alarms.length === 0 ? 'No alarm.' : `${alarms.length} of ${report.findings.length} detectors alarm.`}</p>
${
  gaps.length > 0 &&
  html`<div class="gaps"><p><strong>Not everything could be used:</strong></p><ul>${gaps.map((gap) => html`<li>${gap}</li>`)}</ul></div>`
}
</header>
<main>
<section class="part">
<h2>What is paid without being wanted</h2>
<p class="about">Share of the kept trajectories that each detector flags. An alarm stands beside the threshold that it passed.</p>
${drawFindings(audit)}
</section>
<section class="part">
<h2>Over the steps</h2>
<p class="about">Share of everything that a step rolled out, as logged. Faint: as recorded. Bold: mean of neighboring steps.</p>
${drawCurves(audit)}
</section>
<section class="part">
<h2>Terms and accuracy</h2>
<p class="about">Correlation of every term of the reward with accuracy: with the verdict of the kept trajectories (point-biserial), and of its mean with the accuracy of training steps and of held-out evaluations. A term that does not rise with accuracy pays for something else.</p>
${drawCorrelations(audit)}
</section>
<section class="part">
<h2>Examples</h2>
${drawExamples(audit)}
</section>
</main>
</body>
</html>
`;
  return page.text;
}

function describeFiles(files: readonly string[]): string {
  return files.length <= 3 ? files.join(', ') : `${files[0]} to ${files.at(-1)}`;
}

function drawFindings({ report, detectors }: RunAudit): Html {
  const ordered = [...report.findings].sort(
    (a, b) => Number(b.isAlarm) - Number(a.isAlarm) || b.share - a.share,
  );
  const drawn = ordered.map((finding) => {
    const detector = detectors.find(({ name }) => name === finding.detector);
    return html`<tr><th scope="row"><code>${finding.detector}</code></th><td>${state(finding)}</td><td class="n">${formatPercent(finding.share)}</td><td>${finding.message}</td><td class="quiet">${detector?.alarm ?? ''}</td></tr>`;
  });
  return html`<div class="card"><div class="scroll"><table class="audit">
<thead><tr><th scope="col">Detector</th><th scope="col">State</th><th scope="col" class="n">Flagged</th><th scope="col">What it found</th><th scope="col">Alarm from</th></tr></thead>
<tbody>${drawn}</tbody>
</table></div></div>`;
}

function state({ isAlarm, flagged }: Finding): Html {
  if (isAlarm) return html`<span class="badge wrong">alarm</span>`;
  return flagged.length > 0
    ? html`<span class="badge open">some</span>`
    : html`<span class="badge right">none</span>`;
}

function drawCurves({ steps, report, detectors }: RunAudit): Html {
  const quiet: string[] = [];
  const charts = report.findings.flatMap(({ detector }): readonly Chart[] => {
    const points = steps[detector];
    if (points === undefined) return [];
    if (points.every(({ share }) => share === 0)) {
      quiet.push(detector);
      return [];
    }
    const about = detectors.find(({ name }) => name === detector)?.description ?? '';
    return [
      {
        title: detector,
        about: `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
        xLabel: 'RL step',
        yRange: [0, 1],
        yFormat: (share) => formatPercent(share, 0),
        series: [
          {
            label: 'flagged',
            kind: 'line',
            color: 1,
            points: points.map(({ step, share }) => ({ x: step, y: share })),
          },
        ],
      },
    ];
  });
  if (charts.length + quiet.length === 0) {
    return html`<p class="nothing">The steps of this run logged no audits.</p>`;
  }
  return html`<div class="charts">${charts.map(drawChart)}</div>
${quiet.length > 0 && html`<p class="note">Nothing in any step: ${quiet.join(', ')}.</p>`}`;
}

function drawCorrelations({ report, overSteps, overEvaluations }: RunAudit): Html {
  const names = new Set([
    ...Object.keys(report.correlations),
    ...Object.keys(overSteps),
    ...Object.keys(overEvaluations),
  ]);
  if (names.size === 0) return html`<p class="nothing">Nothing varies enough to be compared.</p>`;
  const written = (r: number | undefined): string =>
    r === undefined ? '–' : formatDifference(r, 2);
  const over = (found: RunAudit['overSteps'][string] | undefined): string =>
    found === undefined
      ? '–'
      : `${written(found.correlation)}, by rank ${written(found.rankCorrelation)}, of ${found.count}`;
  return html`<div class="card"><div class="scroll"><table>
<thead><tr><th scope="col">Term</th><th scope="col" class="n">Trajectories</th><th scope="col" class="n">Training steps</th><th scope="col" class="n">Held-out evaluations</th></tr></thead>
<tbody>${[...names].map(
    (name) =>
      html`<tr><th scope="row"><code>${name}</code></th><td class="n">${written(report.correlations[name])}</td><td class="n">${over(overSteps[name])}</td><td class="n">${over(overEvaluations[name])}</td></tr>`,
  )}</tbody></table></div></div>`;
}

function drawExamples({ report, groups }: RunAudit): Html | readonly Html[] {
  const byId = new Map(groups.flat().map((audited) => [audited.trajectory.id, audited]));
  const folds = report.findings.flatMap((finding): readonly Html[] => {
    const chosen = spread(finding.flagged, SHOWN_EXAMPLES).flatMap((id) => byId.get(id) ?? []);
    if (chosen.length === 0) return [];
    return [
      html`<details class="fold"><summary>${finding.detector} <span class="quiet">${chosen.length} of ${finding.flagged.length}</span></summary><div class="scroll">${chosen.map(drawExample)}</div></details>`,
    ];
  });
  if (folds.length === 0) return html`<p class="nothing">Nothing was flagged.</p>`;
  return folds;
}

/** Some of the ids, from the first to the last. */
function spread(ids: readonly string[], count: number): readonly string[] {
  if (ids.length <= count) return ids;
  const at = (index: number): number => Math.round((index * (ids.length - 1)) / (count - 1));
  return Array.from({ length: count }, (_, index) => ids[at(index)] as string);
}

function drawExample({ trajectory }: Audited): Html {
  const { id, isCorrect, reward, rewardTerms, turns } = trajectory;
  const terms = Object.entries(rewardTerms)
    .map(([name, value]) => `${name} ${formatDifference(value, 2)}`)
    .join(', ');
  return html`<h4><code>${id}</code></h4>
<p class="note">${isCorrect ? 'right' : 'wrong'}, reward ${formatDifference(reward, 2)}: ${terms}</p>
${turns.map(({ action, result }) => {
  if (isToolUse(action)) {
    const call = codeOf(action) ?? JSON.stringify(action, undefined, 2);
    return html`<pre>${call}</pre><p class="note">${result?.kind ?? 'not run'}</p>`;
  }
  return html`<p class="note">${action.kind === 'answer' ? `answers ${action.answer}` : action.reason}</p>`;
})}`;
}
