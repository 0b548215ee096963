/** Computes statistics of a chart's table: aggregates, differences and ratios of all its series. */
import type { ReadChart } from './chart-reading.ts';
import { isOrdered, mean, ranked, sum, trendOf, valuesOf } from './facts.ts';
import { numberText } from './grid.ts';
import { kindText, titleText } from './words.ts';

/** One line for every finding. */
export function analysisOf(chart: ReadChart): readonly string[] {
  const { table } = chart;
  const head = `${kindText(table)}${titleText(chart)}`;
  if (table.kind === 'scatter') return [head, ...pointLines(chart)];
  return [
    head,
    ...table.series.flatMap((_, index) => seriesLines(chart, index)),
    ...betweenSeries(chart),
  ];
}

function short(value: number): string {
  return numberText(Number(value.toPrecision(4)));
}

function seriesLines({ table }: ReadChart, index: number): readonly string[] {
  const values = valuesOf(table, { series: index });
  const name = table.series[index]?.name ?? '';
  const numbers = values.map(({ value }) => value);
  const order = ranked(values);
  const [high, low] = [order[0], order.at(-1)];
  if (high === undefined || low === undefined) return [`${name}: no values could be read.`];
  const ratio = low.value > 0 ? `, ratio ${short(high.value / low.value)}` : '';
  return [
    `${name}: ${values.length} values, sum ${short(sum(numbers))}, average ${short(mean(numbers))}.`,
    `${name}: maximum ${numberText(high.value)} (${high.row}), minimum ${numberText(low.value)} ` +
      `(${low.row}), difference ${short(high.value - low.value)}${ratio}.`,
    ...changeLines(table, name, values),
  ];
}

function changeLines(
  table: ReadChart['table'],
  name: string,
  values: ReturnType<typeof valuesOf>,
): readonly string[] {
  const [first, last] = [values[0], values.at(-1)];
  if (!isOrdered(table) || values.length < 3 || first === undefined || last === undefined)
    return [];
  const change = last.value - first.value;
  const percent = first.value === 0 ? '' : ` (${short((100 * change) / Math.abs(first.value))}%)`;
  const trend = trendOf(values.map(({ value }) => value));
  return [`${name}: from ${first.row} to ${last.row} ${short(change)}${percent}; trend ${trend}.`];
}

function betweenSeries({ table }: ReadChart): readonly string[] {
  if (table.series.length < 2) return [];
  return table.series.slice(1).flatMap(({ name }, offset) => {
    const first = table.series[0];
    const pairs = table.cells.flatMap((row) => {
      const [a, b] = [row[0], row[offset + 1]];
      return a == null || b == null ? [] : [[a.value, b.value] as const];
    });
    if (first === undefined || pairs.length === 0) return [];
    const differences = pairs.map(([a, b]) => a - b);
    const larger = differences.filter((difference) => difference > 0).length;
    const [sumA, sumB] = [sum(pairs.map(([a]) => a)), sum(pairs.map(([, b]) => b))];
    const ratio = sumB === 0 ? '' : `, ratio of sums ${short(sumA / sumB)}`;
    return [
      `${first.name} less ${name}: average difference ${short(mean(differences))}, larger in ` +
        `${larger} of ${pairs.length} rows${ratio}.`,
    ];
  });
}

function pointLines({ table, xTitle, yTitle }: ReadChart): readonly string[] {
  return table.series.flatMap(({ name }, index) => {
    const points = table.points[index] ?? [];
    if (points.length === 0) return [];
    const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
    const [across, upward] = [xTitle ?? 'x', yTitle ?? 'y'];
    return [
      `${name}: ${points.length} points, average ${across} ${short(mean(xs))}, average ${upward} ` +
        `${short(mean(ys))}.`,
    ];
  });
}
