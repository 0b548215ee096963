/** Whether detailed captions name the series and ranges of charts. */
import { type ChartCase, trueValues } from '../charts/cases.ts';
import { chartSuite } from '../charts/chart-suite.ts';
import { isNear } from '../charts/score-table.ts';
import type { QualitySuite, Scores } from '../quality.ts';
import { kindWords } from './chartassistant.ts';

export const chartvlm: QualitySuite = chartSuite('chartvlm', ({ kind, stdout }, chart) =>
  detailScores(kind === 'ok' ? stdout : '', chart),
);

/** `ranges` are the smallest and largest value of each series; `legend` the names that are said. */
function detailScores(caption: string, chart: ChartCase): Scores {
  const kinds = Number(kindWords[chart.kind].test(caption));
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  const names = chart.kind === 'pie' ? chart.labels : chart.series.map(({ name }) => name);
  const hasNames = chart.hasLegend && names.length > 1;
  const named = names.filter((name) => plain(caption).includes(plain(name)));
  const legend = hasNames ? { legend: named.length / names.length } : {};
  if (chart.kind === 'scatter' || chart.isNumeric) return { kinds, ...legend };
  const said = [...caption.matchAll(/range from (-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)/g)];
  const right = trueValues(chart).filter((values) =>
    said.some(
      (match) =>
        isNear(Number(match[1]), Math.min(...values), values) &&
        isNear(Number(match[2]), Math.max(...values), values),
    ),
  );
  return { kinds, ...legend, ranges: right.length / Math.max(1, chart.series.length) };
}
