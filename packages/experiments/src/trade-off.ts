/** The gains of an experiment's runs against their costs, after training. */

import {
  type Chart,
  type ComparedRun,
  formatPercent,
  type Html,
  html,
  type Interval,
  numberIn,
  rowsOf,
  wilsonInterval,
} from '@saccade/report';
import type { ExperimentTradeOff } from './experiment.ts';
import type { PartResult } from './run-experiment.ts';

/** A run's last evaluation. */
export interface TradeOffPoint {
  readonly label: string;
  readonly cost: number;
  readonly gain: number;
  /** 95 % Wilson interval of the gain. */
  readonly interval: Interval;
}

export function tradeOffPoints(
  { cost, gain }: ExperimentTradeOff,
  runs: readonly ComparedRun[],
): readonly TradeOffPoint[] {
  return runs.flatMap(({ label, metrics }) => {
    const last = rowsOf(metrics, 'evaluation').at(-1);
    if (last === undefined) return [];
    const share = numberIn(last, gain);
    const interval = wilsonInterval(share, numberIn(last, 'eval/count'));
    return [{ label, cost: numberIn(last, cost), gain: share, interval }];
  });
}

/** A curve a part, its runs in the order of what they take. */
export function tradeOffChart(tradeOff: ExperimentTradeOff, results: readonly PartResult[]): Chart {
  return {
    title: tradeOff.title,
    about: tradeOff.about,
    xLabel: tradeOff.costLabel,
    yRange: [0, 1],
    yFormat: (share) => formatPercent(share, 0),
    series: results.map(({ part, runs }, i) => ({
      label: part.title,
      kind: 'dots',
      color: i + 1,
      points: [...tradeOffPoints(tradeOff, runs)]
        .sort((a, b) => a.cost - b.cost)
        .map(({ cost, gain, interval }) => ({ x: cost, y: gain, ...interval })),
    })),
  };
}

export function drawTradeOffTable(
  tradeOff: ExperimentTradeOff,
  results: readonly PartResult[],
): Html {
  const rows = results.flatMap(({ part, runs }) =>
    tradeOffPoints(tradeOff, runs).map((point) => ({ part: part.title, ...point })),
  );
  return html`<table><thead><tr><th>run</th><th class="n">${tradeOff.costLabel}</th><th class="n">right answers</th><th class="n">95 %</th></tr></thead>
<tbody>${rows.map(
    ({ part, label, cost, gain, interval: { low, high } }) =>
      html`<tr><th>${part}: ${label}</th><td class="n">${cost.toFixed(1)}</td><td class="n">${formatPercent(gain)}</td><td class="n">${formatPercent(low)} to ${formatPercent(high)}</td></tr>`,
  )}</tbody></table>`;
}
