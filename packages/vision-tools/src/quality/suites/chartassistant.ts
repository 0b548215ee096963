/** Whether captions of charts say what their tables say. */
import { type ChartCase, trueValues } from '../charts/cases.ts';
import { chartSuite } from '../charts/chart-suite.ts';
import { isSameLabel } from '../charts/labels.ts';
import { isNear } from '../charts/score-table.ts';
import type { QualitySuite, Scores } from '../quality.ts';

export const chartassistant: QualitySuite = chartSuite(
  'chartassistant',
  ({ kind, stdout }, chart) => captionScores(kind === 'ok' ? stdout : '', chart),
);

/** The words for the kinds of charts in a caption. */
export const kindWords: Readonly<Record<ChartCase['kind'], RegExp>> = {
  bar: /\bbar chart/,
  horizontal: /\bhorizontal bar chart/,
  grouped: /\bgrouped bar chart/,
  stacked: /\bstacked bar chart/,
  line: /\bline chart/,
  lines: /\bmulti-line chart/,
  pie: /\bpie chart/,
  scatter: /\bscatter plot/,
  area: /\barea chart/,
};

/** `kinds` is the kind of the chart; `extrema` the share of highest and lowest values that are right. */
function captionScores(caption: string, chart: ChartCase): Scores {
  const kinds = Number(kindWords[chart.kind].test(caption));
  if (chart.kind === 'scatter' || chart.isNumeric) return { kinds };
  const said = [
    ...caption.matchAll(/is highest for (.+?) \((-?[\d.]+)\) and lowest for (.+?) \((-?[\d.]+)\)/g),
  ];
  const truth = trueValues(chart);
  const right = truth.flatMap((values) =>
    [Math.max(...values), Math.min(...values)].map((wanted, which) =>
      said.some((match) => {
        const [label, value] = [match[1 + 2 * which] ?? '', Number(match[2 + 2 * which])];
        // If values are nearly equal, either may be called the extremum.
        const close = values.flatMap((one, index) =>
          isNear(one, wanted, values) ? [chart.labels[index] ?? ''] : [],
        );
        return isNear(value, wanted, values) && close.some((name) => isSameLabel(label, name));
      }),
    ),
  );
  return { kinds, extrema: right.filter(Boolean).length / Math.max(1, right.length) };
}
