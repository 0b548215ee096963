/** The statistics of a pipeline as one page without anything outside of it. */
import { importOptional } from '@saccade/core';
import type { DialogSample } from '@saccade/data/formats';
import type { Task } from '@saccade/gym';
import { type Html, html, rawHtml, styleSheet } from '@saccade/report';
import type { Message } from '@saccade/trajectory';
import { type Histogram, type Statistics, textOf } from './statistics.ts';

/** Images of the page fit into a square of this side, pixels. */
const SIDE = 220;
/** Characters of a turn that the page shows. */
const SHOWN_CHARACTERS = 1200;

const ownStyle = `
.funnel { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
.funnel th, .funnel td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--rule); vertical-align: top; }
.funnel .count { text-align: right; white-space: nowrap; }
.bar { display: inline-block; height: .7rem; background: var(--one); border-radius: 2px; min-width: 1px; vertical-align: middle; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .15rem .6rem; font-size: .82rem; align-items: center; font-variant-numeric: tabular-nums; }
.examples { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
.example { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: .9rem 1rem; min-width: 0; }
.example img { max-width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 4px; display: block; margin: .3rem 0; }
.example pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code); padding: .4rem .5rem; border-radius: 6px; margin: .25rem 0; max-height: 16rem; overflow: auto; }
.who { font-size: .75rem; color: var(--quiet); margin-top: .4rem; text-transform: uppercase; letter-spacing: .04em; }
.error-turn pre { border-left: 3px solid var(--wrong); }
.wide { overflow-x: auto; }
`;

/** The page: what each step kept and why it dropped the rest, histograms, examples with their images. */
export async function statisticsPage(
  statistics: Statistics,
  samples: readonly DialogSample[],
  tasks: readonly Task[],
): Promise<string> {
  const { pipeline, description, paper, examples, facts, histograms } = statistics;
  const shown = await Promise.all(samples.map(exampleOf));
  const shownTasks = await Promise.all(tasks.map(taskOf));
  const made =
    statistics.tasks === undefined ? `${examples} examples` : `${statistics.tasks} tasks chosen`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${pipeline}: ${made}</title>
<style>${rawHtml(styleSheet + ownStyle)}</style>
</head>
<body>
<header>
<p class="eyebrow">${paper}</p>
<h1>${pipeline}: ${made}</h1>
<p class="lead">${description}</p>
</header>
<main>
<section class="part">
<h2>What each step kept</h2>
<div class="wide">${funnel(statistics)}</div>
</section>
${facts.length > 0 && html`<section class="part"><h2>Counts</h2>${factTable(statistics)}</section>`}
<section class="part"><h2>How they are distributed</h2><div class="charts">${histograms.map(chart)}</div></section>
${shown.length > 0 && html`<section class="part"><h2>${shown.length} examples</h2><div class="examples">${shown}</div></section>`}
${shownTasks.length > 0 && html`<section class="part"><h2>${shownTasks.length} tasks</h2><div class="examples">${shownTasks}</div></section>`}
<section class="part"><h2>Settings</h2><pre>${JSON.stringify(statistics.settings, null, 2)}</pre></section>
</main>
</body>
</html>
`;
  return page.text;
}

function funnel({ steps }: Statistics): Html {
  const rows = steps.map(({ step, given, kept, reasons }) => {
    const dropped = Object.entries(reasons).map(([reason, count]) => `${reason}: ${count}`);
    const share = given === 0 ? 0 : kept / given;
    return html`<tr><th scope="row">${step}</th><td class="count">${given}</td><td class="count">${kept}</td>
<td class="count">${given === 0 ? '–' : `${Math.round(100 * share)} %`}</td><td>${dropped.join('; ') || 'nothing dropped'}</td></tr>`;
  });
  return html`<table class="funnel"><thead><tr><th scope="col">step</th><th scope="col" class="count">given</th><th scope="col" class="count">kept</th><th scope="col" class="count">share</th><th scope="col">dropped, by reason</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function factTable({ facts }: Statistics): Html {
  const rows = facts.map(
    ({ name, value }) => html`<tr><th scope="row">${name}</th><td class="count">${value}</td></tr>`,
  );
  return html`<table class="funnel"><tbody>${rows}</tbody></table>`;
}

function chart({ title, unit, bars }: Histogram): Html {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const rows = bars.map(
    ({ name, count }) =>
      html`<span>${name}</span><span><span class="bar" style="width:${Math.round((100 * count) / most)}%"></span></span><span>${count}</span>`,
  );
  return html`<figure class="chart"><figcaption><h3>${title}</h3>${unit}</figcaption><div class="bars">${rows}</div></figure>`;
}

async function exampleOf({ messages, tags = {}, id }: DialogSample): Promise<Html> {
  const { question = '', answer = '', type, stratum, mistake } = tags;
  const kind = [type, stratum, mistake].filter((one) => one !== undefined).join(', ');
  const [first] = messages.filter(({ role }) => role === 'user');
  const turns = await Promise.all(
    messages.slice(messages.findIndex(({ role }) => role === 'assistant')).map(turnOf),
  );
  return html`<article class="example"><h3>${String(question)}</h3>
<p class="quiet">${id} · answer ${String(answer)}${kind === '' ? '' : ` · ${kind}`}</p>
${first && (await imagesIn(first))}${turns}</article>`;
}

async function turnOf(message: Message): Promise<Html> {
  const { role, result } = message;
  const text = textOf(message);
  const isError = result?.kind !== undefined && result.kind !== 'ok';
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} …` : text;
  return html`<div class="${isError ? 'error-turn' : 'turn'}"><p class="who">${role === 'assistant' ? 'model' : isError ? `environment: ${result?.kind}` : 'environment'}</p>
<pre>${shown}</pre>${await imagesIn(message)}</div>`;
}

async function imagesIn({ content }: Message): Promise<readonly Html[]> {
  if (typeof content === 'string' || content == null) return [];
  const images = content.flatMap((part) => (part.type === 'image' ? [part] : []));
  return await Promise.all(
    images.map(async ({ image, name = 'image' }) => picture(image, `The image ${name}`)),
  );
}

async function taskOf({ question, answer, images, id }: Task): Promise<Html> {
  const shown = await Promise.all(images.map(({ png, name }) => picture(png, `The image ${name}`)));
  return html`<article class="example"><h3>${question}</h3><p class="quiet">${id} · answer ${answer}</p>${shown}</article>`;
}

async function picture(png: Uint8Array, alt: string): Promise<Html> {
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Drawing the statistics page',
    () => import('sharp'),
  );
  const made = sharp(png).resize(SIDE, SIDE, { fit: 'inside', withoutEnlargement: true });
  const { data, info } = await made.webp({ quality: 80 }).toBuffer({ resolveWithObject: true });
  const url = `data:image/webp;base64,${data.toString('base64')}`;
  // Small crops are shown enlarged, with their pixels as they are.
  const scale = Math.max(1, Math.floor(112 / Math.max(info.width, info.height)));
  return html`<img src="${url}" width="${info.width * scale}" height="${info.height * scale}" style="image-rendering:${scale > 1 ? 'pixelated' : 'auto'}" alt="${alt}">`;
}
