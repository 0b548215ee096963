/** A profile as one page: where the time went as a table, and as flame graphs. */
import { createHash } from 'node:crypto';
import { type ProfiledSpan, secondsOf } from '@saccade/core';
import type { StoredProfile } from '@saccade/run-store';
import { type Html, html, rawHtml } from '../html.ts';
import { styleSheet } from '../style.ts';
import { colorOf, drawFlame } from './flame.ts';
import { formatSeconds } from './numbers.ts';
import { describeProfile, type ProfileRow, profileColumns, profileRows } from './profile-rows.ts';
import { profileStyle } from './profile-style.ts';

/** Stages below this share of the whole have no graph of their own. */
const OWN_GRAPH = 0.02;

/** The page, without scripts; its style is its own. */
export function drawProfilePage(stored: StoredProfile): string {
  const css = `${styleSheet}${profileStyle}`;
  const style = createHash('sha256').update(css).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'`;
  const { what, startedAt, profile } = stored;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Profile: ${what}</title>
<style>${rawHtml(css)}</style>
</head>
<body>
<header>
<p class="eyebrow">Saccade profile</p>
<h1>${what}</h1>
<p class="lead">${formatSeconds(profile.seconds)} s, from ${startedAt.slice(0, 16).replace('T', ' ')} UTC</p>
${describeProfile(stored).map((line) => html`<p class="lead">${line}</p>`)}
</header>
<main>
<section class="part">
<h2>Where the time went</h2>
<p class="about">Every moment counts once, so the groups add up to 100 %: for the innermost span that JavaScript was in; else in equal parts for what worked elsewhere, in sandboxes or other threads; else as waiting. <i>In flight</i> adds up how long things elsewhere took, however many ran at a time: they also run while JavaScript and kernels do.</p>
${drawRows(profileRows(stored))}
</section>
<section class="part">
<h2>In which stage</h2>
<p class="about">A span is as wide as its seconds, and lies under the one that it was in. Point at one for its numbers; where graphs are given by stage, each has its own scale.</p>
<figure class="graph">${drawFlame(profile.root, profile.seconds)}</figure>
${ownGraphs(profile.root, profile.seconds).map(
  (span) =>
    html`<figure class="graph"><figcaption><h3>${span.name}</h3></figcaption>${drawFlame(span, profile.seconds)}</figure>`,
)}
</section>
</main>
</body>
</html>
`;
  return page.text;
}

/** The stages that are parts of the run, where there is more than one. */
function ownGraphs(root: ProfiledSpan, wholeSeconds: number): readonly ProfiledSpan[] {
  const stages = root.spans.filter(
    (span) => span.kind === 'stage' && secondsOf(span) >= OWN_GRAPH * wholeSeconds,
  );
  return stages.length > 1 ? stages.sort((a, b) => secondsOf(b) - secondsOf(a)) : [];
}

function drawRows(rows: readonly ProfileRow[]): Html {
  return html`<div class="card"><div class="scroll"><table class="profile">
<thead><tr><th scope="col">Part</th>${profileColumns.map((title) => html`<th scope="col" class="n">${title}</th>`)}<th scope="col" class="bars"><span class="hidden">share as a bar</span></th></tr></thead>
<tbody>${rows.map(drawRow)}</tbody>
</table></div></div>`;
}

function drawRow(
  { name, kind, isGroup, share, cells }: ProfileRow,
  index: number,
  rows: readonly ProfileRow[],
): Html {
  const group = rows.slice(0, index + 1).findLast((row) => row.isGroup)?.name ?? name;
  const color = colorOf({ name: `${group}/`, kind });
  return html`<tr class="${isGroup ? 'group' : 'inner'}"><th scope="row">${name}</th>${cells.map(
    (cell) => html`<td class="n">${cell}</td>`,
  )}<td class="bars"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><g class="${color}"><rect x="0" y="0" width="${Math.round(1000 * share) / 10}" height="8"/></g></svg></td></tr>`;
}
