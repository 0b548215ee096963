/** The page that raters fill: self-contained, blind, for the keyboard as well. */
import { createHash } from 'node:crypto';
import { DataError } from '@saccade/core';
import { drawOverview, drawTurns, type Html, html, rawHtml, styleSheet } from '@saccade/report';
import type { Trajectory } from '@saccade/trajectory';
import { type PageData, runRatingPage } from './page-script.ts';
import { pageStyle } from './page-style.ts';
import type { StudyItem, StudyKey } from './study.ts';

/** A trajectory with its images, and the task it is of. */
export interface ShownTrajectory {
  readonly question: string;
  readonly trajectory: Trajectory;
}

/** Finds the trajectory of a model and task. */
export type FindTrajectory = (
  model: string,
  taskId: string,
) => Promise<ShownTrajectory | undefined>;

/**
 * Draws the page of a study. It shows no model, no verdict and no reference answer, loads nothing from
 * elsewhere, and treats all text of models as text.
 *
 * @throws DataError for an item whose trajectory cannot be found
 */
export async function drawRatingPage(key: StudyKey, find: FindTrajectory): Promise<string> {
  const drawn: Html[] = [];
  for (const item of key.items) drawn.push(await drawItem(item, find));
  const data: PageData = {
    study: key.study,
    mode: key.mode,
    choices: key.choices.map(({ value }) => value),
    orders: key.orders,
  };
  const script = `(${runRatingPage.toString()})();`;
  const sheet = styleSheet + pageStyle;
  const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
  // This script, this style, images in the page, and files that the page makes: nothing else.
  const policy =
    `default-src 'none'; img-src data:; style-src 'sha256-${digest(sheet)}'; ` +
    `script-src 'sha256-${digest(script)}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${key.title}</title>
<style>${rawHtml(sheet)}</style>
</head>
<body class="ratings">
<header>
<p class="eyebrow">Saccade ratings · study ${key.study}</p>
<h1>${key.title}</h1>
</header>
<main>
${drawBegin(key)}
<section id="rate" hidden>
<div class="bar">
<h2 id="place" tabindex="-1"></h2>
<progress id="progress" aria-label="Rated items"></progress>
<span id="rated" class="quiet"></span>
<span class="moves"><button type="button" id="back">← Back</button><button type="button" id="next">Next →</button></span>
</div>
<p id="said" class="note" role="status"></p>
<div id="done" class="finished" hidden><p><strong>All items are rated.</strong> Download the file and send it back.</p></div>
${drawn}
<div class="answer-bar">
<p class="criterion">${key.criterion}</p>
<div class="choices" role="group" aria-label="Your rating">${key.choices.map(
    ({ value, label }, index) =>
      html`<button type="button" data-value="${value}" aria-pressed="false"><kbd>${index + 1}</kbd> ${label}</button>`,
  )}</div>
</div>
<div class="after">
<label class="comment">Comment <span class="quiet">(optional)</span><textarea id="comment" rows="2"></textarea></label>
<div class="files">
<button type="button" id="json">Download ratings</button>
<button type="button" id="csv">Download as CSV</button>
<label class="file">Continue from a file <input type="file" id="file" accept=".json,application/json"></label>
</div>
<p class="note">Keys: <kbd>1</kbd> to <kbd>${key.choices.length}</kbd> rate, <kbd>←</kbd> <kbd>→</kbd> move, <kbd>c</kbd> writes a comment, <kbd>Esc</kbd> leaves it. Ratings are kept in this browser.</p>
</div>
</section>
</main>
<script type="application/json" id="data">${rawHtml(inScript(data))}</script>
<script>${rawHtml(script)}</script>
</body>
</html>
`.text;
}

/** JSON in which nothing ends a script element or begins a comment. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
}

function drawBegin({ orders, items, mode, criterion }: StudyKey): Html {
  const what =
    mode === 'pairs'
      ? 'Each item shows how two models worked on the same task. Which is which changes from item to item.'
      : 'Each item shows how a model worked on a task.';
  return html`<section id="begin" class="part">
<p>${what} There are ${items.length} items.</p>
<p class="criterion">${criterion}</p>
<p>Who rates?</p>
<div class="choices">${Object.keys(orders).map((rater) => html`<button type="button" data-rater="${rater}">Rater ${rater}</button>`)}</div>
<noscript><p class="gaps">This page needs JavaScript. It loads nothing from elsewhere. The CSV file beside it can be filled instead.</p></noscript>
</section>`;
}

async function drawItem(item: StudyItem, find: FindTrajectory): Promise<Html> {
  const sides: Html[] = [];
  let question = '';
  for (const [index, model] of item.models.entries()) {
    const shown = await find(model, item.taskId);
    if (shown === undefined) {
      throw new DataError(
        `The trajectory ${item.trajectoryIds[index]} of ${model} is not there any more. Export again ` +
          'from the same evaluations.',
      );
    }
    question = shown.question;
    sides.push(await drawSide(shown.trajectory, item, index));
  }
  return html`<article class="item card" data-item="${item.id}" hidden>
<p class="question">“${question}”</p>
<div class="sides${item.models.length === 1 && ' one'}">${sides}</div>
</article>`;
}

async function drawSide(trajectory: Trajectory, item: StudyItem, index: number): Promise<Html> {
  const overviews: Html[] = [];
  for (const [place, image] of (trajectory.segments[0]?.images ?? []).entries()) {
    const id = `image-${item.id}-${place}`;
    const embedding = index === 0 ? 'original' : 'reference';
    overviews.push(await drawOverview(image, trajectory, { id, title: 'Original', embedding }));
  }
  const title = item.models.length === 1 ? 'What the model did' : '';
  return html`<section class="side" data-side="${index === 0 ? 'first' : 'second'}">
<h3>${title}</h3>
<div class="look-and-facts">${overviews}</div>
${await drawTurns(trajectory)}
</section>`;
}
