/** Captions of charts by templates over what was read: nothing is said that is not in the table. */
import type { ReadChart } from './chart-reading.ts';
import { isOrdered, mean, ranked, sum, trendOf, type Value, valuesOf } from './facts.ts';
import { numberText, rowTitle, valueTitle } from './grid.ts';
import { kindText, listText, titleText, withArticle } from './words.ts';

/** A summary: the kind of the chart, what it compares, trends and extrema. */
export function summaryOf(chart: ReadChart): string {
  return [openingOf(chart), ...seriesSentences(chart)].join(' ');
}

/** A caption with the visual encoding: colors, legend, ranges of axes and of values. */
export function detailOf(chart: ReadChart): string {
  return [openingOf(chart), ...encodingSentences(chart), ...rangeSentences(chart)].join(' ');
}

/** Both, and how the series compare. */
export function descriptionOf(chart: ReadChart): string {
  return [
    openingOf(chart),
    ...encodingSentences(chart),
    ...seriesSentences(chart),
    ...comparisonSentences(chart),
  ].join(' ');
}

function openingOf(chart: ReadChart): string {
  const { table } = chart;
  const opening = `This is ${withArticle(kindText(table))}${titleText(chart)}`;
  if (table.kind === 'scatter') {
    const count = sum(table.points.map((points) => points.length));
    return `${opening} with ${count} points of ${chart.yTitle ?? 'y'} by ${chart.xTitle ?? 'x'}.`;
  }
  const rows = `${table.rows.length} ${table.rows.length === 1 ? 'category' : 'categories'}`;
  const names = table.series.map(({ name }) => name);
  const series = names.length > 1 ? ` and ${names.length} series (${listText(names)})` : '';
  const by = rowTitle(chart) === 'Category' ? '' : ` by ${rowTitle(chart)}`;
  return `${opening}; it shows ${valueTitle(chart)}${by} with ${rows}${series}.`;
}

function seriesSentences(chart: ReadChart): readonly string[] {
  const { table } = chart;
  if (table.kind === 'scatter') return scatterSentences(chart);
  return table.series.flatMap(({ name }, index) => {
    const values = valuesOf(table, { series: index });
    if (values.length === 0) return [];
    const subject = table.series.length > 1 ? name : valueTitle(chart);
    return [...trendSentence(chart, subject, values), extremaSentence(subject, values)];
  });
}

function trendSentence(
  { table }: ReadChart,
  subject: string,
  values: readonly Value[],
): readonly string[] {
  const [first, last] = [values[0], values.at(-1)];
  if (!isOrdered(table) || values.length < 3 || first === undefined || last === undefined)
    return [];
  const trend = trendOf(values.map(({ value }) => value));
  const ends =
    `from ${numberText(first.value)} (${first.row}) to ` +
    `${numberText(last.value)} (${last.row})`;
  if (trend === 'increasing') return [`${subject} rises overall ${ends}.`];
  if (trend === 'decreasing') return [`${subject} falls overall ${ends}.`];
  if (trend === 'stable') return [`${subject} stays nearly the same, ${ends}.`];
  return [`${subject} goes up and down, ${ends}.`];
}

function extremaSentence(subject: string, values: readonly Value[]): string {
  const order = ranked(values);
  const [high, low] = [order[0], order.at(-1)];
  if (high === undefined || low === undefined) return '';
  if (values.length === 1) return `${subject} is ${numberText(high.value)} for ${high.row}.`;
  return (
    `${subject} is highest for ${high.row} (${numberText(high.value)}) and lowest for ` +
    `${low.row} (${numberText(low.value)}).`
  );
}

function scatterSentences({ table, xTitle, yTitle }: ReadChart): readonly string[] {
  return table.series.flatMap(({ name }, index) => {
    const points = table.points[index] ?? [];
    if (points.length === 0) return [];
    const subject = table.series.length > 1 ? `${name}: ` : '';
    const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
    const relation = correlationText(xs, ys);
    return [
      `${subject}${points.length} points with ${xTitle ?? 'x'} from ${rangeText(xs)} and ` +
        `${yTitle ?? 'y'} from ${rangeText(ys)}${relation}.`,
    ];
  });
}

function rangeText(values: readonly number[]): string {
  return `${numberText(Math.min(...values))} to ${numberText(Math.max(...values))}`;
}

/** Pearson's correlation in words, from five points on. */
function correlationText(xs: readonly number[], ys: readonly number[]): string {
  if (xs.length < 5) return '';
  const [mx, my] = [mean(xs), mean(ys)];
  const covariance = sum(xs.map((x, index) => (x - mx) * ((ys[index] ?? my) - my)));
  const spread = Math.sqrt(sum(xs.map((x) => (x - mx) ** 2)) * sum(ys.map((y) => (y - my) ** 2)));
  if (spread === 0) return '';
  const r = covariance / spread;
  const strength = Math.abs(r) > 0.7 ? 'strongly' : Math.abs(r) > 0.3 ? 'moderately' : 'hardly';
  const way =
    strength === 'hardly'
      ? 'correlated'
      : r > 0
        ? 'positively correlated'
        : 'negatively correlated';
  return `; they are ${strength} ${way} (r = ${r.toFixed(2)})`;
}

function encodingSentences({ table, legend, xAxis, yAxis, page }: ReadChart): readonly string[] {
  const colored = table.series.filter(({ colorName }) => colorName !== null);
  const colors =
    legend !== null && table.kind === 'pie'
      ? [`Its legend names ${listText(legend.entries.map(({ name }) => name))}.`]
      : colored.length === 0
        ? []
        : [colorSentence(colored, legend !== null)];
  const axes = (
    [
      ['horizontal', xAxis],
      ['vertical', yAxis],
    ] as const
  ).flatMap(([name, axis]) => {
    if (axis === null || axis.ticks.length < 2) return [];
    const scale = axis.isLog ? 'logarithmic' : 'linear';
    const range = rangeText(axis.ticks.map(({ value }) => value));
    return [`The ${name} axis is ${scale}, labeled from ${range}${axis.unit}.`];
  });
  return [...colors, ...axes, `The background is ${page}.`];
}

function colorSentence(
  series: readonly {
    readonly name: string;
    readonly namedBy: string;
    readonly colorName: string | null;
  }[],
  hasLegend: boolean,
): string {
  const isNamed = series.every(({ namedBy }) => namedBy !== 'color');
  if (!isNamed && !hasLegend && series.length > 1) {
    return `There is no legend; the series are called by their colors: ${listText(series.map(({ name }) => name))}.`;
  }
  const drawn = series.map(({ name, colorName }) => `${name} in ${colorName ?? 'several colors'}`);
  return `${hasLegend ? 'The legend shows' : 'It draws'} ${listText(drawn)}.`;
}

function rangeSentences({ table }: ReadChart): readonly string[] {
  if (table.kind === 'scatter') return [];
  return table.series.flatMap(({ name }, index) => {
    const values = valuesOf(table, { series: index }).map(({ value }) => value);
    return values.length === 0 ? [] : [`Values of ${name} range from ${rangeText(values)}.`];
  });
}

function comparisonSentences({ table }: ReadChart): readonly string[] {
  if (table.kind === 'scatter' || table.series.length < 2) return [];
  const means = table.series.map(({ name }, index) => {
    const values = valuesOf(table, { series: index }).map(({ value }) => value);
    return { name, value: values.length === 0 ? Number.NaN : mean(values) };
  });
  const known = means.filter(({ value }) => !Number.isNaN(value)).sort((a, b) => b.value - a.value);
  const [top, bottom] = [known[0], known.at(-1)];
  if (top === undefined || bottom === undefined || known.length < 2) return [];
  return [
    `On average ${top.name} is highest (${numberText(Number(top.value.toPrecision(4)))}) and ` +
      `${bottom.name} lowest (${numberText(Number(bottom.value.toPrecision(4)))}).`,
  ];
}
