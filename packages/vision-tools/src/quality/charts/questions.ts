/** Questions about the charts of `quality/charts`, with answers worked out from their tables. */
import type { ChartCase } from './cases.ts';
import { isNear } from './score-table.ts';

export interface ChartQuestion {
  readonly question: string;
  /** A number within 5 %, a label, or undefined where the tool has to decline. */
  readonly answer: number | string | undefined;
}

/** Questions about one chart; none where its rows have no labels to name. */
export function questionsAbout(chart: ChartCase): readonly ChartQuestion[] {
  const { kind, labels, series, isNumeric, hasLegend } = chart;
  if (isNumeric || kind === 'scatter' || kind === 'pie' || labels.length < 3) return [];
  if (series.length > 1 && !hasLegend) return [];
  return series.slice(0, 2).flatMap(({ name, values }, index) => {
    const of = series.length > 1 ? ` of ${name}` : '';
    return seriesQuestions(labels, values, of).filter((_, at) => index === 0 || at < 2);
  });
}

function seriesQuestions(
  labels: readonly string[],
  values: readonly number[],
  of: string,
): readonly ChartQuestion[] {
  const at = (index: number): { readonly label: string; readonly value: number } => ({
    label: labels[index] ?? '',
    value: values[index] ?? Number.NaN,
  });
  const [first, second] = [at(0), at(labels.length - 1)];
  const sorted = [...values].sort((a, b) => b - a);
  const [top, next] = [sorted[0] ?? 0, sorted[1] ?? 0];
  const total = values.reduce((sum, value) => sum + value, 0);
  const best = at(values.indexOf(top)).label;
  const isClear = top - next > 0.03 * Math.abs(top);
  const difference = Math.abs(first.value - second.value);
  return [
    { question: `What is the value${of} for ${first.label}?`, answer: first.value },
    ...(isClear ? [{ question: `Which has the highest value${of}?`, answer: best }] : []),
    { question: `What is the lowest value${of}?`, answer: Math.min(...values) },
    // The difference of nearly equal numbers is mostly error.
    ...(difference > 0.2 * Math.abs(top)
      ? [
          {
            question: `What is the difference${of} between ${first.label} and ${second.label}?`,
            answer: difference,
          },
        ]
      : []),
    { question: `What is the average value${of}?`, answer: total / values.length },
    { question: `What is the sum${of} over all rows?`, answer: total },
    { question: `Why is ${first.label} so different?`, answer: undefined },
    { question: `What is the value${of} for Atlantis?`, answer: undefined },
  ];
}

/** Whether an answer is right. */
export function isRight(said: string, answer: number | string): boolean {
  const first = said.split('\n')[0] ?? '';
  if (typeof answer === 'number') return isNear(Number(first.replace('%', '')), answer, [answer]);
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return (
    plain(first) === plain(answer) || plain(answer).startsWith(plain(first.replace(/…|\.\.+/, '')))
  );
}
