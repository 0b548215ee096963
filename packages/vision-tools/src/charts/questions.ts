/**
 * Questions about a chart in a closed grammar: lookup, extremum, difference, ratio, share, sum, mean,
 * median, count, comparison, trend, and what the chart says of itself.
 */
import {
  type Asked,
  askedOf,
  cellOf,
  comparativeOf,
  everything,
  extremeOf,
  highest,
  known,
  less,
  lowest,
  more,
  nameOne,
  no,
  numberOf,
  oneSeries,
  type Problem,
  pairOf,
  relationOf,
  selectionOf,
} from './asked.ts';
import type { ReadChart } from './chart-reading.ts';
import { isOrdered } from './facts.ts';
import type { Extreme, Program } from './program.ts';

const unsupported =
  /\b(why|predict|forecast|will|would|should|if|cause[ds]?|because|reason|correlat\w*|expect\w*)\b/;

/** The program of a question, or why there is none. */
export function programOf(question: string, chart: ReadChart): Program | Problem {
  const asked = askedOf(question, chart);
  const { text } = asked;
  if (unsupported.test(text)) {
    return no('It asks for more than the values of the chart.');
  }
  const about = aboutOf(asked);
  if (about !== undefined) return about;
  if (chart.table.kind === 'scatter') {
    return no('The chart is a scatter plot: only its points can be counted.');
  }
  for (const rule of rules) {
    const program = rule(asked);
    if (program !== undefined) return program;
  }
  return no(
    'It is none of: lookup, highest or lowest, difference, ratio, share, sum, average, count, comparison, trend.',
  );
}

function aboutOf({ text, chart, series }: Asked): Program | undefined {
  if (/\b(what|which) (kind|type|sort) of (a )?(chart|graph|plot|figure|diagram)\b/.test(text)) {
    return { op: 'about', what: 'kind' };
  }
  if (/\b(label|title|name) of the (x|horizontal)([- ]axis)?\b/.test(text)) {
    return { op: 'about', what: 'xTitle' };
  }
  if (/\b(label|title|name) of the (y|vertical)([- ]axis)?\b/.test(text)) {
    return { op: 'about', what: 'yTitle' };
  }
  if (/\btitle of\b|\bwhat is the (chart )?title\b/.test(text))
    return { op: 'about', what: 'title' };
  if (/\bcolou?r\b/.test(text) && series[0] !== undefined)
    return { op: 'color', series: series[0] };
  if (!/\bhow many\b/.test(text)) return undefined;
  if (/\bhow many (data )?points\b/.test(text)) {
    return { op: 'count', what: chart.table.kind === 'scatter' ? 'points' : 'values' };
  }
  if (chart.table.kind === 'scatter') return undefined;
  if (/\bhow many (different )?(series|lines|colou?rs|legend|groups)\b/.test(text)) {
    return more.test(text) || less.test(text) ? undefined : { op: 'count', what: 'series' };
  }
  if (/\bhow many bars\b/.test(text) && !more.test(text) && !less.test(text)) {
    return { op: 'count', what: 'values' };
  }
  return undefined;
}

type Rule = (asked: Asked) => Program | Problem | undefined;

const rules: readonly Rule[] = [
  countRule,
  changeRule,
  trendRule,
  pairRule,
  shareRule,
  totalRule,
  isRule,
  extremeRule,
  lookupRule,
];

/** How many categories there are, or how many of them lie above or below a number. */
function countRule(asked: Asked): Program | Problem | undefined {
  const { text, chart, rows, series, numbers } = asked;
  if (!/\b(how many|number of)\b/.test(text) || /\bhow many (times|more|fewer)\b/.test(text)) {
    return undefined;
  }
  const relation = relationOf(text);
  const [bound] = numbers;
  if (relation !== undefined && bound !== undefined) {
    if (chart.table.series.length > 1 && series.length !== 1) return nameOne(asked);
    return { op: 'countWhere', of: { rows: [], series }, condition: { relation, bound } };
  }
  const rowName = (chart.table.isHorizontal ? chart.yTitle : chart.xTitle)?.toLowerCase();
  const isOfRows =
    /\bhow many (different )?(categor(y|ies)|rows|items|labels|entries|slices|sectors|segments|bars|x)\b/;
  if (
    isOfRows.test(text) ||
    (rowName !== undefined && isPlural(text, rowName) && rows.length === 0)
  ) {
    return { op: 'count', what: 'rows' };
  }
  return undefined;
}

/** Whether a question counts what the axis is called: `how many countries`. */
function isPlural(text: string, name: string): boolean {
  const stem = name.replace(/(y|ies|s)$/, '');
  const counted = /\bhow many (?:different )?([a-z]+)/.exec(text)?.[1];
  return counted !== undefined && stem.length > 2 && counted.startsWith(stem);
}

/** From one row to another: how much a series changed, absolutely or in percent. */
function changeRule(asked: Asked): Program | Problem | undefined {
  const { text } = asked;
  const isChange =
    /\b(increase|decrease|decline|change|grow|growth|rise|fall|drop)d?\b.*\b(from|between)\b/;
  if (!isChange.test(text) || /^(is|does|do|did|has|was|were|are)\b/.test(text)) return undefined;
  const pair = pairOf(asked);
  if (pair === undefined) return undefined;
  const op = /\b(percent|percentage|rate|relative)\b|%/.test(text) ? 'percentChange' : 'change';
  return { op, ...pair, of: everything };
}

function trendRule(asked: Asked): Program | Problem | undefined {
  const { text, chart, rows } = asked;
  const asksTrend = /\btrend\b/.test(text);
  const rises = /\b(increas(e|es|ed|ing)|ris(e|es|ing)|grow(s|n|ing)?|upwards?)\b/.test(text);
  const falls = /\b(decreas(e|es|ed|ing)|declin(e|es|ed|ing)|fall(s|en|ing)?|downwards?)\b/.test(
    text,
  );
  const isYesNo = /^(is|does|do|did|has|have|are|was|were)\b/.test(text);
  if (!asksTrend && !(isYesNo && (rises || falls))) return undefined;
  if (rows.length > 0) return no('A trend is of a whole series, not of some rows.');
  if (!isOrdered(chart.table)) return no('The categories have no order, so there is no trend.');
  const one = oneSeries(asked);
  if (one === undefined) return nameOne(asked);
  const asks = !isYesNo ? 'trend' : falls ? 'falls' : rises ? 'rises' : 'trend';
  return { op: 'trend', series: one, asks };
}

/** Difference or ratio of two values. */
function pairRule(asked: Asked): Program | Problem | undefined {
  const { text } = asked;
  const isRatio = /\bratio\b|\bhow many times\b|\btimes (as|more|larger|higher|greater)\b/.test(
    text,
  );
  const isDifference =
    /\b(difference|gap)\b|\bhow (much|many) (more|less|higher|lower|greater|smaller|larger|fewer|bigger)\b|\bby how (much|many)\b|\bhow (much|many)\b.*\b(more|less|fewer)\b.*\bthan\b/;
  if (!isRatio && !isDifference.test(text)) return undefined;
  const op = isRatio ? 'ratio' : 'difference';
  if (highest.test(text) && lowest.test(text)) {
    const of = selectionOf(asked);
    if ('problem' in of) return of;
    const isReversed = text.search(lowest) < text.search(highest);
    const [top, bottom]: readonly Extreme[] = [
      { which: 'max', rank: 1 },
      { which: 'min', rank: 1 },
    ];
    if (top === undefined || bottom === undefined) return undefined;
    return isReversed && isRatio
      ? { op, first: bottom, second: top, of }
      : { op, first: top, second: bottom, of };
  }
  const pair = pairOf(asked);
  if (pair === undefined) return no(`It must name two values. ${known(asked)}`);
  return { op, ...pair, of: everything };
}

/** A value as a share of the whole. */
function shareRule(asked: Asked): Program | Problem | undefined {
  const { text, chart } = asked;
  const isShare =
    /\b(percent|percentage|share|fraction|proportion|part)\b.*\b(of|in) (the )?(total|all|overall|whole|sum)\b/;
  if (!isShare.test(text) || chart.table.kind === 'pie') return undefined;
  const cell = cellOf(asked);
  if (cell === undefined) return nameOne(asked);
  return { op: 'share', cell, of: { rows: [], series: [cell.series] } };
}

/** Sum, mean or median of a series, a row, a range of rows, or the highest values. */
function totalRule(asked: Asked): Program | Problem | undefined {
  const { text } = asked;
  const op = /\b(average|mean)\b/.test(text)
    ? 'mean'
    : /\bmedian\b/.test(text)
      ? 'median'
      : /\b(sum|total|combined|altogether|add(ed)? up|aggregate)\b/.test(text)
        ? 'sum'
        : undefined;
  if (op === undefined) return undefined;
  // "Which has the highest total" is another question.
  if (/^(which|who|when|where)\b/.test(text)) return no('It combines two operations.');
  const of = selectionOf(asked);
  if ('problem' in of) return of;
  const count = /\b(two|three|four|five|2|3|4|5)\b/.exec(text)?.[1];
  if (highest.test(text) || lowest.test(text)) {
    if (count === undefined) return no('It combines two operations.');
    const which = highest.test(text) ? 'max' : 'min';
    return { op, of, top: { which, count: numberOf(count) } };
  }
  return { op, of };
}

/** Yes or no: whether a value is an extremum, or more or less than another or a number. */
function isRule(asked: Asked): Program | Problem | undefined {
  const { text, chart, rows, series, numbers } = asked;
  if (!/^(is|are|was|were|does|do|did|has|have)\b/.test(text)) return undefined;
  const relation = relationOf(text);
  const extreme = extremeOf(text);
  if (extreme !== undefined && !/\bthan\b/.test(text)) {
    const cell = cellOf(asked);
    return cell === undefined ? nameOne(asked) : { op: 'isExtreme', extreme, cell };
  }
  if (relation === undefined) return no('It compares nothing: say more, less or equal.');
  const pair = pairOf(asked);
  if (pair !== undefined) {
    const { first, second } = pair;
    return { op: 'compare', first, relation, second };
  }
  const [bound] = numbers;
  const cell = cellOf(asked);
  if (bound === undefined || cell === undefined) {
    const parts = `${rows.length + series.length} of ${chart.table.rows.length} rows`;
    return no(
      `It must name two values, or a value and a number; it names ${parts}. ${known(asked)}`,
    );
  }
  return { op: 'compare', first: cell, relation, second: bound };
}

/** The highest or lowest, or where it is. */
function extremeRule(asked: Asked): Program | Problem | undefined {
  const { text, chart, rows, series } = asked;
  const among = rows.length > 1 || series.length > 1;
  const extreme =
    extremeOf(text) ??
    // "Which is larger, A or B" has a comparative.
    (among && /^(which|who|when|where|what)\b/.test(text) ? comparativeOf(text) : undefined);
  if (extreme === undefined) return undefined;
  const gives = givesLabel(text, chart) ? 'label' : 'value';
  return { op: 'extreme', extreme, of: { rows, series }, gives };
}

function givesLabel(text: string, chart: ReadChart): boolean {
  if (/\b(which|who|when|where)\b/.test(text)) return true;
  if (/\bhow (much|high|low|many|large|big)\b/.test(text)) return false;
  if (/\bwhat (is|was|are|were) the (value|amount)\b/.test(text)) return false;
  const rowName = (chart.table.isHorizontal ? chart.yTitle : chart.xTitle)?.toLowerCase();
  const nouns = ['year', 'month', 'country', 'state', 'category', 'city', rowName ?? 'category'];
  if (nouns.some((noun) => new RegExp(`\\bwhat( is| was)?( the)? ${escaped(noun)}`).test(text))) {
    return true;
  }
  // "What has the highest …" asks for a label, "what is the highest …" for a value.
  return /\bwhat (?!is|was|are|were)\w+/.test(text);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function lookupRule(asked: Asked): Program | Problem | undefined {
  const { text, numbers, rows, series } = asked;
  if (!/\b(what|how (much|many|high|low|large|big|long|tall)|value|give|read)\b/.test(text)) {
    return undefined;
  }
  const [unknown] = numbers;
  if (unknown !== undefined && rows.length === 0) {
    return no(`${unknown} is no row of the chart. ${known(asked)}`);
  }
  if (rows.length > 1 || series.length > 1) return no('It names several values and no operation.');
  const cell = cellOf(asked);
  return cell === undefined ? nameOne(asked) : { op: 'lookup', cell };
}
