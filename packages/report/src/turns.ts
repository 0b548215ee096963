/** The turns of a trajectory: what the model wrote, what came back, what it ended with. */
import {
  codeOf,
  type Segment,
  type ToolResult,
  type Trajectory,
  type TrajectoryImage,
  type Turn,
} from '@saccade/trajectory';
import { type Html, html } from './html.ts';
import { dataUri } from './images.ts';

/** An image that a tool gave back, with the number it has on the original. */
export interface Look {
  readonly number: number;
  readonly image: TrajectoryImage;
}

/** Images of the observations, numbered in the order in which the model saw them. */
export function looksOf({ segments }: Trajectory): ReadonlyMap<TrajectoryImage, Look> {
  const looks = new Map<TrajectoryImage, Look>();
  for (const { kind, images } of segments) {
    if (kind !== 'observation') continue;
    for (const image of images) looks.set(image, { number: looks.size + 1, image });
  }
  return looks;
}

/** The content of the box, if an answer is `\boxed{…}`; else the answer itself. */
export function plainAnswer(answer: string): string {
  return (/\\boxed\{([^{}]*)\}/.exec(answer)?.[1] ?? answer).trim();
}

/** The turns of a trajectory in order, with the images that tools gave. */
export async function drawTurns(trajectory: Trajectory): Promise<Html> {
  const looks = looksOf(trajectory);
  const turns: Html[] = [];
  for (const turn of trajectory.turns) turns.push(await drawTurn(turn, trajectory, looks));
  const { failure } = trajectory;
  return html`<ol class="turns">${turns}</ol>${
    failure &&
    html`<p class="note">Infrastructure failed (${failure.boundary}): ${failure.message}</p>`
  }`;
}

async function drawTurn(
  turn: Turn,
  { segments }: Trajectory,
  looks: ReadonlyMap<TrajectoryImage, Look>,
): Promise<Html> {
  const written = segments[turn.segment];
  const observed = segments[turn.segment + 1];
  const shown = (observed?.images ?? []).flatMap((image) => looks.get(image) ?? []);
  const figures = await Promise.all(shown.map(drawLook));
  return html`<li>
${drawThought(written)}
${drawAction(turn, written)}
${turn.result && drawResult(turn.result, shown.length)}
${figures.length > 0 && html`<div class="looks">${figures}</div>`}
</li>`;
}

/** The model's text before its code or answer. */
function drawThought(written: Segment | undefined): Html | undefined {
  const thought = written?.text.split(/<code>|<answer>|<tool_call>|```/, 1)[0]?.trim();
  if (!written || thought === undefined || thought === '' || thought === written.text.trim()) {
    return undefined;
  }
  return html`<p class="thought">${thought}</p>`;
}

function drawAction({ action }: Turn, written: Segment | undefined): Html {
  if (action.kind === 'code') {
    return html`<p class="what">Runs code</p><pre><code>${action.code.trim()}</code></pre>`;
  }
  if (action.kind === 'toolCall') {
    const given = JSON.stringify(action.arguments, undefined, 2);
    return html`<p class="what">Calls <code>${action.name}</code></p><pre><code>${codeOf(action) ?? given}</code></pre>`;
  }
  if (action.kind === 'answer') {
    return html`<p class="what">Answers <strong class="answer">${plainAnswer(action.answer)}</strong></p>`;
  }
  return html`<p class="what">Writes neither code nor an answer (<code>${action.reason}</code>)</p>${
    written && html`<pre><code>${written.text}</code></pre>`
  }`;
}

function drawResult(result: ToolResult, shownCount: number): Html {
  const error = [result.errorType, result.errorMessage].filter(Boolean).join(': ');
  const unseen = result.imageCount - shownCount;
  return html`${
    result.kind !== 'ok' &&
    html`<p class="what failed">The run ended with <code>${result.kind}</code></p>${error !== '' && html`<pre class="failed"><code>${error}</code></pre>`}`
  }${
    result.stdout.trim() !== '' &&
    html`<p class="what">Printed</p><pre><code>${result.stdout.trim()}</code></pre>`
  }${
    unseen > 0 &&
    html`<p class="note">${unseen === 1 ? 'An image came' : `${unseen} images came`} back that the model did not get to see.</p>`
  }`;
}

async function drawLook({ number, image }: Look): Promise<Html> {
  const uri = await dataUri(image.png);
  const size = `${image.width} × ${image.height} px`;
  const name = image.origin ? `Crop ${number}` : `Image ${number}`;
  const alt = `${name}, ${size}, as the tool gave it to the model`;
  return html`<figure class="look">${
    uri === undefined
      ? html`<p class="nothing">The image's file is missing.</p>`
      : html`<img alt="${alt}" src="${uri}"${isTiny(image) && html` class="tiny"`}>`
  }<figcaption>${image.origin && html`<span class="number">${number}</span> `}${size}</figcaption></figure>`;
}

/** Pixels so few that they are better seen than blurred. */
function isTiny({ width, height }: TrajectoryImage): boolean {
  return Math.max(width, height) <= 128;
}
