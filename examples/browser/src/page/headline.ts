/** The numbers on top: what a run has reached, from the end of the cold start to now. */
import { element } from './element.ts';
import { formatNumber, formatPercent } from './numbers.ts';
import type { Session } from './session.ts';

export function drawHeadline(root: HTMLElement, { history }: Session): void {
  const { evaluations, reinforcement } = history;
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  const isOne = evaluations.length < 2;
  const fromTo = (value: (of: { accuracy: number; toolCalls: number }) => string): HTMLElement => {
    if (first === undefined || last === undefined) return element('dd', {}, '–');
    if (isOne) return element('dd', {}, value(first));
    return element('dd', {}, element('span', { class: 'from' }, `${value(first)} → `), value(last));
  };
  const { rolloutSeconds = 0, learnSeconds = 0 } = reinforcement.at(-1)?.values ?? {};
  const pace = rolloutSeconds + learnSeconds;
  root.replaceChildren(
    card(
      `Right answers, ${last?.count ?? 'on'} held-out tasks`,
      fromTo(({ accuracy }) => formatPercent(accuracy)),
    ),
    card(
      'Tool calls per task',
      fromTo(({ toolCalls }) => toolCalls.toFixed(2)),
    ),
    card(
      'A step of reinforcement learning',
      element('dd', {}, pace > 0 ? `${formatNumber(pace)} s` : '–'),
    ),
  );
}

function card(title: string, value: HTMLElement): HTMLElement {
  return element('div', {}, element('dt', {}, title), value);
}
