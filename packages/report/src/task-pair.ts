/** One held-out task before and after training, side by side. */
import { countToolCalls, isScored, type StopReason, type Trajectory } from '@saccade/trajectory';
import { type PairOutcome, type TaskPair, verdictOf } from './choose-pairs.ts';
import { type Html, html } from './html.ts';
import { parseBox } from './images.ts';
import { formatNumber } from './numbers.ts';
import { drawOverview, type Embedding } from './overview.ts';
import type { KeptTrajectory } from './read-run.ts';
import { drawTurns, plainAnswer } from './turns.ts';

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
    const truth = parseBox(kept.tags.box);
    const names = { id: `${id}-${place}`, title, embedding, ...(truth && { truth }) };
    overviews.push(await drawOverview(image, trajectory, names));
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
