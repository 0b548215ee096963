/** Tasks of evaluations side by side: a row each, and the trajectories of some turn by turn. */
import type { SampleFacts } from '@saccade/eval';
import { type ScoredSample, sampleKey } from '@saccade/run-store';
import type { Trajectory } from '@saccade/trajectory';
import { type Html, html } from '../html.ts';
import type { ImageBox } from '../images.ts';
import { formatPercent } from '../numbers.ts';
import { drawOverview } from '../overview.ts';
import { drawTurns, plainAnswer } from '../turns.ts';
import type { PageSuite, SideBySide } from './read-side-by-side.ts';

/** A task as the page filters it. */
export interface TaskRow {
  readonly index: number;
  readonly id: string;
  readonly question: string;
  /** By model of the page: the mean score of its samples; undefined where it has none. */
  readonly scores: readonly (number | undefined)[];
  /** By model of the page: kinds of errors of its wrong samples. */
  readonly errors: readonly (readonly string[])[];
  /** Whether models differ on it. */
  readonly isMixed: boolean;
}

/** Every task of a suite, in order. */
export function taskRows(
  { tasks, models }: PageSuite,
  page: Pick<SideBySide, 'models'>,
): readonly TaskRow[] {
  return tasks.map(({ index, id, question }) => {
    const own = page.models.map(
      (_, model): readonly SampleFacts[] =>
        models.find((one) => one.model === model)?.samples.get(index) ?? [],
    );
    const scores = own.map((samples) =>
      samples.length === 0
        ? undefined
        : samples.reduce((sum, { score }) => sum + score, 0) / samples.length,
    );
    const known = scores.filter((score) => score !== undefined);
    return {
      index,
      id,
      question,
      scores,
      errors: own.map((samples) => [...new Set(samples.flatMap(({ errors }) => errors))].sort()),
      isMixed: new Set(known).size > 1,
    };
  });
}

/** Tasks that are shown turn by turn: those on which models differ first, then wrong ones, in order. */
export function chooseRows(rows: readonly TaskRow[], count: number): readonly TaskRow[] {
  const rank = ({ isMixed, scores }: TaskRow): number =>
    isMixed ? 0 : scores.some((score = 1) => score < 1) ? 1 : 2;
  const chosen = [...rows].sort((a, b) => rank(a) - rank(b) || a.index - b.index).slice(0, count);
  return chosen.sort((a, b) => a.index - b.index);
}

/** What the script reads of a task to filter it. */
function filterAttributes({ scores, errors, isMixed, question, id }: TaskRow): Html {
  const outcomes = scores.map((score) =>
    score === undefined ? 'none' : score >= 0.5 ? 'right' : 'wrong',
  );
  return html` data-outcomes="${outcomes.join(' ')}" data-errors="${errors.map((own) => own.join(',')).join(' ')}" data-mixed="${isMixed ? 'yes' : 'no'}" data-text="${`${id} ${question}`.toLowerCase()}"`;
}

/** The rows of all tasks. */
export function drawTaskRows(
  rows: readonly TaskRow[],
  {
    labels,
    shown,
    suite,
  }: {
    readonly labels: readonly string[];
    readonly shown: ReadonlySet<number>;
    readonly suite: string;
  },
): Html {
  return html`<div class="scroll tasks" tabindex="0" role="region" aria-label="Tasks of ${suite}"><table>
<thead><tr><th scope="col">Task</th>${labels.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr${filterAttributes(row)}><th scope="row">${shown.has(row.index) ? html`<a href="#${anchor(suite, row.index)}">${row.id}</a>` : row.id} <span class="quiet">${shorten(row.question)}</span></th>${row.scores.map((score, index) => html`<td>${drawScore(score)} ${row.errors[index]?.map((kind) => html`<span class="kind">${kind}</span> `)}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}

const QUESTION_CHARACTERS = 90;

function shorten(text: string): string {
  const letters = [...text];
  return letters.length <= QUESTION_CHARACTERS
    ? text
    : `${letters.slice(0, QUESTION_CHARACTERS).join('')}…`;
}

function drawScore(score: number | undefined): Html {
  if (score === undefined) return html`<span class="badge open">no sample</span>`;
  if (score === 1) return html`<span class="badge right">✓ right</span>`;
  if (score === 0) return html`<span class="badge wrong">✗ wrong</span>`;
  return html`<span class="badge ${score >= 0.5 ? 'right' : 'wrong'}">${formatPercent(score, 0)}</span>`;
}

/** The address of a task within the page. */
function anchor(suite: string, index: number): string {
  return `${suite.replaceAll(/[^\w-]+/g, '-')}-task-${index}`;
}

/** The first sample of a task that a model has, by the task's id. */
export type SamplesByTask = ReadonlyMap<string, ScoredSample>;

/** The first samples of some tasks, model by model. */
export function firstSamples(
  suite: PageSuite,
  page: Pick<SideBySide, 'models'>,
  wanted: ReadonlySet<string>,
): readonly SamplesByTask[] {
  return page.models.map(({ evaluation }) => {
    const found = new Map<string, ScoredSample>();
    if (!evaluation.suites.some(({ name }) => name === suite.name)) return found;
    const keys = new Set([...wanted].map((id) => sampleKey(id, 0)));
    for (const sample of evaluation.samples(suite.name)) {
      const { taskId, sampleIndex } = sample.trajectory;
      if (keys.has(sampleKey(taskId, sampleIndex))) found.set(taskId, sample);
    }
    return found;
  });
}

/** One task with the first sample of every model, side by side. */
export async function drawSideTask(
  row: TaskRow,
  suite: PageSuite,
  {
    labels,
    samples,
  }: { readonly labels: readonly string[]; readonly samples: readonly SamplesByTask[] },
): Promise<Html> {
  const task = suite.tasks[row.index];
  const id = anchor(suite.name, row.index);
  const truth = boxOf(task?.metadata.box, task?.metadata.toCanonical);
  let isEmbedded = false;
  const sides: Html[] = [];
  for (const [model, label] of labels.entries()) {
    const sample = samples[model]?.get(row.id);
    if (sample === undefined) {
      sides.push(
        html`<section class="side"><h4>${label}</h4><p class="nothing">No sample of this task.</p></section>`,
      );
      continue;
    }
    const trajectory = (await sample.load()).value;
    const overviews: Html[] = [];
    for (const [place, image] of (trajectory.segments[0]?.images ?? []).entries()) {
      const embedding = isEmbedded ? ('reference' as const) : ('original' as const);
      const how = { id: `${id}-${place}`, title: label, embedding, ...(truth && { truth }) };
      overviews.push(await drawOverview(image, trajectory, how));
    }
    isEmbedded ||= overviews.length > 0;
    sides.push(await drawSide(label, trajectory, overviews, row.errors[model] ?? [], sample));
  }
  return html`<details class="task" id="${id}"${filterAttributes(row)}>
<summary><h3>${row.id}</h3> ${row.scores.map((score, index) => html`<span class="side-score"><span class="quiet">${labels[index]}</span> ${drawScore(score)}</span> `)}</summary>
<p class="question">“${row.question}” Expected: <strong class="answer">${task?.answer}</strong></p>
<div class="sides many">${sides}</div>
</details>`;
}

async function drawSide(
  label: string,
  trajectory: Trajectory,
  overviews: readonly Html[],
  errors: readonly string[],
  { trajectory: { isCorrect, answer } }: ScoredSample,
): Promise<Html> {
  const given = answer === undefined ? 'no answer' : plainAnswer(answer);
  return html`<section class="side">
<h4>${label}</h4>
<p>${isCorrect ? html`<span class="badge right">✓ right: ${given}</span>` : html`<span class="badge wrong">✗ wrong: ${given}</span>`} ${errors.map((kind) => html`<span class="kind">${kind}</span> `)}</p>
<div class="look-and-facts">${overviews}</div>
${await drawTurns(trajectory)}
</section>`;
}

/** The box of a task on its image as it was given; none where the image was turned before. */
function boxOf(box: unknown, toCanonical: unknown): ImageBox | undefined {
  if (!Array.isArray(box) || box.length !== 4 || !box.every(Number.isFinite)) return undefined;
  const isUpright =
    toCanonical === undefined ||
    (Array.isArray(toCanonical) && toCanonical.join() === '1,0,0,0,1,0');
  return isUpright ? (box as unknown as ImageBox) : undefined;
}
