/** Finds the rows, series, numbers and words of the grammar in a question about a chart. */
import type { ReadChart } from './chart-reading.ts';
import { isOrdered } from './facts.ts';
import { type Mention, mentionsOf, wordsIn } from './mentions.ts';
import type { CellPlace, Extreme, Relation, Selection } from './program.ts';

/** Why a question is outside of the grammar. */
export interface Problem {
  readonly problem: string;
}

/** A question with the rows, series and numbers that it names. */
export interface Asked {
  readonly text: string;
  readonly chart: ReadChart;
  readonly rows: readonly number[];
  readonly series: readonly number[];
  /** Numbers that name no row. */
  readonly numbers: readonly number[];
}

/** Words for the largest value. */
export const highest =
  /\b(highest|largest|greatest|biggest|(?<!at )most|maximum|max|top|peak(s|ed)?|longest|tallest|best)\b/;
/** Words for the smallest value. */
export const lowest = /\b(lowest|smallest|(?<!at )least|minimum|min|fewest|shortest|worst)\b/;
/** Words for more than something. */
export const more =
  /\b(more|greater|higher|larger|bigger|exceeds?|exceeded|above|over|longer|taller|at least)\b/;
/** Words for less than something. */
export const less = /\b(less|lower|smaller|fewer|below|under|shorter|at most)\b/;
/** Why there is no program. */
export function no(reason: string): Problem {
  return { problem: reason };
}

/** The parts of a chart and the numbers that a question names. */
export function askedOf(question: string, chart: ReadChart): Asked {
  const words = wordsIn(question);
  const taken = new Set<number>();
  const { table } = chart;
  // A single series is called like the axis, which any question may do.
  const names = table.series.length > 1 ? table.series.map(({ name }) => name) : [];
  const [rows, series] = bothMentions(words, table.rows, names, taken);
  const rest = words.filter((_, index) => !taken.has(index));
  const numbers = rest.filter((word) => /^-?\d+(\.\d+)?$/.test(word)).map(Number);
  return {
    text: question.toLowerCase(),
    chart,
    rows: rows.map(({ index }) => index),
    series: series.map(({ index }) => index),
    numbers,
  };
}

/** Longer names go first, be they of rows or of series: `North` in `North Korea` is no row. */
function bothMentions(
  words: readonly string[],
  rows: readonly string[],
  series: readonly string[],
  taken: Set<number>,
): readonly [readonly Mention[], readonly Mention[]] {
  const all = mentionsOf(words, [...rows, ...series], taken);
  const ofRows = all.filter(({ index }) => index < rows.length);
  const ofSeries = all
    .filter(({ index }) => index >= rows.length)
    .map((mention) => ({ ...mention, index: mention.index - rows.length }));
  return [ofRows, ofSeries];
}

/** All rows and series. */
export const everything: Selection = { rows: [], series: [] };

/** More, less or equal, if a question says one of them. */
export function relationOf(text: string): Relation | undefined {
  if (/\b(equal|same as|the same)\b/.test(text)) return '=';
  if (less.test(text)) return '<';
  return more.test(text) ? '>' : undefined;
}

/** The extremum that a comparative stands for: the larger of two is the largest. */
export function comparativeOf(text: string): Extreme | undefined {
  const relation = relationOf(text);
  if (relation === undefined || relation === '=') return undefined;
  return { which: relation === '>' ? 'max' : 'min', rank: 1 };
}

/** The extremum that a question asks for, with its rank. */
export function extremeOf(text: string): Extreme | undefined {
  const which = lowest.test(text) ? 'min' : highest.test(text) ? 'max' : undefined;
  if (which === undefined) return undefined;
  const rank = /\b(second|third|fourth|fifth|2nd|3rd|4th|5th)\b/.exec(text)?.[1];
  return { which, rank: rank === undefined ? 1 : numberOf(rank) };
}

const numerals = ['zero', 'one', 'two', 'three', 'four', 'five'];
const ordinals = ['zeroth', 'first', 'second', 'third', 'fourth', 'fifth'];

/** The number of a numeral, an ordinal or digits. */
export function numberOf(word: string): number {
  const known = Math.max(numerals.indexOf(word), ordinals.indexOf(word));
  return known >= 0 ? known : Number.parseInt(word, 10);
}

/** The series that a question is about: the one it names, or the only one. */
export function oneSeries({ chart, series }: Asked): number | undefined {
  if (chart.table.series.length === 1) return 0;
  return series.length === 1 ? series[0] : undefined;
}

/** The value that a question is about, if it names one. */
export function cellOf(asked: Asked): CellPlace | undefined {
  const { chart, rows } = asked;
  const series = oneSeries(asked);
  const row = chart.table.rows.length === 1 ? 0 : rows.length === 1 ? rows[0] : undefined;
  return row === undefined || series === undefined ? undefined : { row, series };
}

/** Two values: of two rows in one series, of two series in one row, or as a row and series each. */
export function pairOf(
  asked: Asked,
): { readonly first: CellPlace; readonly second: CellPlace } | undefined {
  const { chart, rows, series } = asked;
  const [rowA, rowB] = rows;
  const [seriesA, seriesB] = series;
  const one = oneSeries(asked);
  if (rowA !== undefined && rowB !== undefined && rows.length === 2 && one !== undefined) {
    return { first: { row: rowA, series: one }, second: { row: rowB, series: one } };
  }
  const row = chart.table.rows.length === 1 ? 0 : rows.length === 1 ? rowA : undefined;
  if (row !== undefined && seriesA !== undefined && seriesB !== undefined && series.length === 2) {
    return { first: { row, series: seriesA }, second: { row, series: seriesB } };
  }
  if (rows.length === 2 && series.length === 2 && rowA !== undefined && rowB !== undefined) {
    if (seriesA === undefined || seriesB === undefined) return undefined;
    return { first: { row: rowA, series: seriesA }, second: { row: rowB, series: seriesB } };
  }
  return undefined;
}

/** The selection of a total. Two rows after `from` or `between` stand for the range of rows. */
export function selectionOf(asked: Asked): Selection | Problem {
  const { text, chart, rows, series, numbers } = asked;
  const [unknown] = numbers.filter((number) => number > 5);
  if (unknown !== undefined) return no(`${unknown} is no row of the chart. ${known(asked)}`);
  if (chart.table.series.length > 1 && series.length === 0 && rows.length === 0) {
    return /\b(all|overall|total|chart|everything)\b/.test(text) ? everything : nameOne(asked);
  }
  const [from, to] = [Math.min(...rows), Math.max(...rows)];
  const isRange = /\b(from|between)\b.*\b(to|and|until|through)\b/.test(text);
  if (rows.length === 2 && isRange && isOrdered(chart.table)) {
    return { rows: Array.from({ length: to - from + 1 }, (_, index) => from + index), series };
  }
  return { rows, series };
}

/** That a question names too little, with what there is. */
export function nameOne(asked: Asked): Problem {
  return no(`It must say which value it means. ${known(asked)}`);
}

/** The labels that a question can name. */
export function known({ chart }: Asked): string {
  const { rows, series } = chart.table;
  const some = (names: readonly string[]): string =>
    names.length > 12 ? `${names.slice(0, 12).join(', ')}, …` : names.join(', ');
  const names = series.map(({ name }) => name);
  return `Rows: ${some(rows)}.${names.length > 1 ? ` Series: ${some(names)}.` : ''}`;
}
