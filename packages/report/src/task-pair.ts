/** One held-out task before and after training, side by side. */
import {
  countToolCalls,
  isScored,
  type StopReason,
  type Tags,
  type Trajectory,
  type TrajectoryImage,
} from '@saccade/trajectory';
import { type PairOutcome, type TaskPair, verdictOf } from './choose-pairs.ts';
import { type Html, html } from './html.ts';
import { dataUri, type ImageBox, originBox, parseBox } from './images.ts';
import { formatNumber } from './numbers.ts';
import type { KeptTrajectory } from './read-run.ts';
import { drawTurns, looksOf, plainAnswer } from './turns.ts';

export const outcomeNames: Readonly<Record<PairOutcome, string>> = {
  learned: 'wrong → right',
  lost: 'right → wrong',
  stillWrong: 'wrong both times',
  stillRight: 'right both times',
  oneSided: 'one evaluation only',
};

const stopNames: Readonly<Record<StopReason, string>> = {
  answered: 'gave an answer',
  turnLimit: 'tool turns ran out',
  lengthLimit: 'tokens ran out',
  imageLimit: 'images ran out',
  toolError: 'its code failed',
  invalidAction: 'neither code nor answer',
  failed: 'infrastructure failed',
};

/** The task as a section that folds; `index` makes its ids unique in the page. */
export async function drawTaskPair(
  pair: TaskPair,
  { index, isOpen }: { index: number; isOpen: boolean },
): Promise<Html> {
  const tags = (pair.after ?? pair.before)?.tags ?? {};
  const before = await drawSide(pair.before, 'Before RL', `task-${index}`, 'original');
  // A trajectory that failed before its prompt has no images to refer to.
  const isEmbedded = (pair.before?.trajectory.segments[0]?.images.length ?? 0) > 0;
  const after = await drawSide(
    pair.after,
    'After RL',
    `task-${index}`,
    isEmbedded ? 'reference' : 'original',
  );
  return html`<details class="task"${isOpen && html` open`}>
<summary><h3>${pair.taskId}</h3> <span class="change">${drawVerdict(pair.before)} <span aria-hidden="true">→</span><span class="hidden">then</span> ${drawVerdict(pair.after)}</span> <span class="quiet">${callsOf(pair)}</span></summary>
<p class="question">${tags.question !== undefined && html`“${String(tags.question)}” `}${
    tags.answer !== undefined &&
    html`Expected: <strong class="answer">${String(tags.answer)}</strong>`
  }</p>
<div class="sides">
${before}
${after}
</div>
</details>`;
}

/** `2 → 1 tool calls`, or those of the one side there is. */
function callsOf({ before, after }: TaskPair): string {
  const counts = [before, after].flatMap((kept) =>
    kept === undefined ? [] : [countToolCalls(kept.trajectory)],
  );
  const isOne = counts.every((count) => count === 1);
  return `${[...new Set(counts)].join(' → ')} tool ${isOne ? 'call' : 'calls'}`;
}

function drawVerdict(kept: KeptTrajectory | undefined): Html {
  if (kept === undefined) return html`<span class="badge open">not evaluated</span>`;
  const verdict = verdictOf(kept);
  const { answer } = kept.trajectory;
  const given = answer === undefined ? 'no answer' : plainAnswer(answer);
  if (verdict === undefined) return html`<span class="badge open">– not judged: ${given}</span>`;
  return verdict
    ? html`<span class="badge right">✓ right: ${given}</span>`
    : html`<span class="badge wrong">✗ wrong: ${given}</span>`;
}

/** The same original is in the page once: the second side refers to the first's. */
type Embedding = 'original' | 'reference';

async function drawSide(
  kept: KeptTrajectory | undefined,
  title: string,
  id: string,
  embedding: Embedding,
): Promise<Html> {
  if (kept === undefined) {
    return html`<section class="side"><h4>${title}</h4><p class="nothing">This task was not kept in this evaluation.</p></section>`;
  }
  const trajectory = await kept.load();
  const originals = trajectory.segments[0]?.images ?? [];
  const overviews: Html[] = [];
  for (const [place, image] of originals.entries()) {
    const names = { id: `${id}-${place}`, title };
    overviews.push(await drawOverview(image, trajectory, kept.tags, embedding, names));
  }
  return html`<section class="side">
<h4>${title}</h4>
<div class="look-and-facts">${overviews}${drawFacts(trajectory, kept)}</div>
${await drawTurns(trajectory)}
</section>`;
}

function drawFacts(trajectory: Trajectory, kept: KeptTrajectory): Html {
  const calls = countToolCalls(trajectory);
  return html`<dl class="facts">
<div><dt>Outcome</dt><dd>${drawVerdict(kept)}</dd></div>
<div><dt>Ended</dt><dd>${stopNames[trajectory.stopReason]}</dd></div>
<div><dt>Tool calls</dt><dd>${calls} in ${trajectory.turns.length} ${trajectory.turns.length === 1 ? 'turn' : 'turns'}</dd></div>
${isScored(trajectory) && html`<div><dt>Reward</dt><dd>${formatNumber(trajectory.reward)} <span class="quiet">= ${drawTerms(trajectory.rewardTerms)}</span></dd></div>`}
</dl>`;
}

function drawTerms(terms: Readonly<Record<string, number>>): string {
  const written = Object.entries(terms).map(([name, value]) => `${formatNumber(value)} ${name}`);
  return written.length === 0 ? 'no terms' : written.join(' + ');
}

async function drawOverview(
  image: TrajectoryImage,
  trajectory: Trajectory,
  tags: Tags,
  embedding: Embedding,
  { id, title }: { id: string; title: string },
): Promise<Html> {
  const { width, height, name } = image;
  const looks = [...looksOf(trajectory).values()].flatMap(({ number, image: look }) =>
    look.origin?.image === name ? [{ number, box: originBox(look, look.origin.map) }] : [],
  );
  const truth = parseBox(tags.box);
  const uri = await dataUri(image.png);
  const seen =
    looks.length === 0
      ? 'no crops'
      : `${looks.length} crop ${looks.length === 1 ? 'box' : 'boxes'}`;
  const label = `${title}: ${name}, ${width} × ${height} px, with ${seen}${truth ? ' and the place asked about' : ''}`;
  const pixels =
    embedding === 'original'
      ? html`<image id="${id}" width="${width}" height="${height}" href="${uri}"/>`
      : html`<use href="#${id}"/>`;
  return html`<figure class="overview">
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
${uri === undefined ? html`<rect class="lost" width="${width}" height="${height}"/>` : pixels}
${truth && drawBox(widen(truth, Math.max(width, height) * 0.012), 'truth')}
${looks.map(({ box }) => drawBox(box, 'crop'))}
${looks.map(({ box, number }) => drawNumber(box, number, { width, height }))}
</svg>
<figcaption>${width} × ${height} px; the model gets it as ${image.modelWidth} × ${image.modelHeight}.${uri === undefined && ' The file of the image is missing.'}</figcaption>
</figure>`;
}

/** The frame of the truth stays clear of a crop of exactly the same place. */
function widen([left, top, right, bottom]: ImageBox, by: number): ImageBox {
  return [left - by, top - by, right + by, bottom + by];
}

function drawBox([left, top, right, bottom]: ImageBox, kind: 'crop' | 'truth'): Html {
  const [width, height] = [right - left, bottom - top];
  // A dark line underneath keeps the colors apart from any image.
  return html`<rect class="halo" x="${left}" y="${top}" width="${width}" height="${height}"/><rect class="box ${kind}" x="${left}" y="${top}" width="${width}" height="${height}"/>`;
}

/** The number stands outside of its box, above if there is room. */
function drawNumber(
  [left, top, , bottom]: ImageBox,
  number: number,
  { width, height }: { width: number; height: number },
): Html {
  const side = Math.max(width, height) * 0.05;
  const y = top >= side * 1.15 ? top - side * 1.1 : Math.min(bottom + side * 0.1, height - side);
  const x = Math.min(Math.max(left, 0) + (number - 1) * side * 0.35, width - side);
  return html`<rect class="tag" x="${x}" y="${y}" width="${side}" height="${side}" rx="${side * 0.15}"/><text class="tag-text" text-anchor="middle" font-size="${side * 0.8}" x="${x + side / 2}" y="${y + side * 0.78}">${number}</text>`;
}
