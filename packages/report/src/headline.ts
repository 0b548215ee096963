/** The numbers a reader came for: held-out accuracy, tool calls and turns, before and after. */
import type { Evaluation } from './curves.ts';
import { type Html, html } from './html.ts';
import { formatDifference, formatNumber, formatPercent, wilsonInterval } from './numbers.ts';

/** Cards for the evaluation after the cold start and the last one since. */
export function drawHeadline(evaluations: readonly Evaluation[]): Html {
  const before = evaluations.find(({ label }) => label === 'sft');
  const after =
    evaluations.find(({ label }) => label === 'final') ??
    evaluations.filter(({ label }) => label !== 'sft').at(-1);
  if (!before && !after) {
    return html`<p class="gaps">No evaluation on held-out tasks has been done yet.</p>`;
  }
  return html`<div class="headline">
${drawAccuracy(before, after)}
${drawMean('Tool calls per held-out task', before?.toolCalls, after?.toolCalls)}
${drawMean('Turns per held-out task', before?.turns, after?.turns)}
</div>
${note(before, after)}`;
}

function note(before: Evaluation | undefined, after: Evaluation | undefined): Html | undefined {
  if (!after) {
    return html`<p class="note">After the cold start; RL has not been evaluated yet.</p>`;
  }
  const upTo = after.label === 'final' ? 'the last RL step' : `RL step ${after.step} so far`;
  if (!before) return html`<p class="note">After ${upTo}; there is no evaluation before RL.</p>`;
  return html`<p class="note">Before: after the cold start. After: ${upTo}. In brackets, 95 % Wilson intervals.</p>`;
}

function drawAccuracy(before: Evaluation | undefined, after: Evaluation | undefined): Html {
  const gain = before && after ? 100 * (after.accuracy - before.accuracy) : undefined;
  return html`<div class="number-card">
<h2>Held-out accuracy</h2>
${fromTo(before && formatPercent(before.accuracy), after && formatPercent(after.accuracy))}
<p>${gain !== undefined && `${formatDifference(gain, 1)} points`}</p>
${before && html`<p>Before: ${spread(before)}</p>`}
${after && html`<p>After: ${spread(after)}</p>`}
</div>`;
}

function spread({ accuracy, count }: Evaluation): string {
  if (!(count > 0)) return 'the number of tasks is not recorded';
  const { low, high } = wilsonInterval(accuracy, count);
  const right = Math.round(accuracy * count);
  return `${right} of ${count} right [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;
}

function drawMean(title: string, before: number | undefined, after: number | undefined): Html {
  const change = before !== undefined && after !== undefined ? after - before : undefined;
  const shorten = (value: number) =>
    Number.isFinite(value) ? value.toFixed(2) : formatNumber(value);
  return html`<div class="number-card">
<h2>${title}</h2>
${fromTo(before === undefined ? undefined : shorten(before), after === undefined ? undefined : shorten(after))}
<p>${change !== undefined && Number.isFinite(change) && `${formatDifference(change, 2)} on average`}</p>
</div>`;
}

function fromTo(before: string | undefined, after: string | undefined): Html {
  if (before === undefined || after === undefined) {
    return html`<p class="from-to">${before ?? after}</p>`;
  }
  return html`<p class="from-to"><span class="from">${before}</span> <span class="arrow" aria-hidden="true">→</span><span class="hidden">to</span> ${after}</p>`;
}
