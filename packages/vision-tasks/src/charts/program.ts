/** Questions about a chart, each with the program that gives its answer. */
import type { Random } from '@saccade/core';
import { type ChartPlan, valueAt } from './plan-chart.ts';
import { amountOf, inWords, measureOf, oneOf } from './tables.ts';

/** One cell of the table that a chart shows. */
export interface Cell {
  readonly row: string;
  readonly column: string;
}

/**
 * How the answer follows from cells of the table:
 *
 * | operation    | answer                                                                  |
 * | ------------ | ----------------------------------------------------------------------- |
 * | `lookup`     | the value of the cell                                                   |
 * | `highest`, `lowest` | the name along `along` of the cell with that value               |
 * | `difference` | first − second                                                          |
 * | `ratio`      | first ÷ second, two decimals                                            |
 * | `sum`        | the sum of the cells                                                    |
 * | `mean`       | their mean, two decimals                                                |
 * | `count`      | how many cells are above `threshold`                                    |
 * | `compare`    | `yes` if first > second, else `no`                                      |
 * | `trend`      | `rise` if first < second, else `fall`                                   |
 */
export interface ChartProgram {
  readonly operation: Operation;
  readonly cells: readonly Cell[];
  readonly threshold?: number;
  /** Whether the answer of an extremum is the name of a row or of a column. */
  readonly along?: 'row' | 'column';
}

/** The operation of a program on its cells. */
type Operation =
  | 'lookup'
  | 'highest'
  | 'lowest'
  | 'difference'
  | 'ratio'
  | 'sum'
  | 'mean'
  | 'count'
  | 'compare'
  | 'trend';

/** The operations of each difficulty, 1 to 4. */
const operationsOf: readonly (readonly Operation[])[] = [
  ['lookup', 'highest', 'lowest', 'compare'],
  ['lookup', 'highest', 'lowest', 'difference', 'count', 'trend'],
  ['lookup', 'highest', 'lowest', 'difference', 'ratio', 'sum', 'count'],
  ['difference', 'ratio', 'sum', 'mean', 'count', 'lowest'],
];

/** The properties of a chart that decide what can be read off it. */
export interface Readable {
  /** Whether every value is written beside its mark. */
  readonly isLabeled: boolean;
  /** The ends of the value axis. */
  readonly axis: readonly [number, number];
}

/** A question, its program and its answer. */
export interface ChartQuestion {
  readonly question: string;
  readonly program: ChartProgram;
  readonly answer: string;
}

/** Gaps that decide an answer are at least this share of the axis where values are not written. */
const CLEAR_GAP = 0.03;
/** Values that are read off the axis are at least this share of it above zero. */
const READABLE_SHARE = 0.3;

/** Draws a question; undefined where the drawn one cannot be answered from the image for sure. */
export function askChart(
  plan: ChartPlan,
  level: number,
  readable: Readable,
  random: Random,
): ChartQuestion | undefined {
  const { table, rows, columns } = plan;
  const operation: Operation = random.pick(operationsOf[level - 1] ?? (['lookup'] as const));
  const along =
    rows.length < 2 || (columns.length > 1 && random.integer(2) === 0) ? 'column' : 'row';
  const fixed = random.pick(along === 'row' ? columns : rows);
  const slice = (along === 'row' ? rows : columns).map((name): Cell => {
    return along === 'row' ? { row: name, column: fixed } : { row: fixed, column: name };
  });
  if (slice.length < 2) return undefined;
  const value = (cell: Cell) => valueAt(table, cell.row, cell.column);
  const phrase = ({ row, column }: Cell) =>
    `the ${measureOf(table, row)}${column === '' ? '' : ` in ${column}`}`;
  const compared = (one: Cell, other: Cell) =>
    one.row === other.row
      ? `the ${measureOf(table, one.row)} higher in ${one.column} than in ${other.column}`
      : `${phrase(one)} higher than ${phrase(other)}`;
  const [first, second, third] = random.shuffle(slice) as [Cell, Cell, ...Cell[]];
  const [low, high] = readable.axis;
  const gap = readable.isLabeled ? 1e-9 : CLEAR_GAP * (high - low);
  const isClear = (a: number, b: number) => Math.abs(a - b) >= gap;
  const isReadable = (cells: readonly Cell[]) =>
    readable.isLabeled || cells.every((cell) => value(cell) >= READABLE_SHARE * high);
  const when = fixed === '' ? '' : ` in ${fixed}`;
  const inUnit = `Answer in ${table.unit}.`;
  const ask = (question: string, program: Omit<ChartProgram, 'operation'>): ChartQuestion => {
    const whole: ChartProgram = { operation, ...program };
    return { question, program: whole, answer: answerOf(whole, value) };
  };
  switch (operation) {
    case 'lookup':
      if (!isReadable([first])) return undefined;
      return ask(`What is ${phrase(first)}? ${inUnit}`, { cells: [first] });
    case 'highest':
    case 'lowest': {
      const sign = operation === 'highest' ? -1 : 1;
      const [best = 0, next = 0] = slice.map(value).sort((a, b) => sign * (a - b));
      if (!isClear(best, next)) return undefined;
      const question =
        along === 'row'
          ? `Which ${table.row[0]} has the ${operation} ${table.measure}${when}?`
          : `Of the years shown, in which is the ${measureOf(table, fixed)} ${operation}?`;
      return ask(question, { cells: slice, along });
    }
    case 'difference': {
      const [more, less] = value(first) > value(second) ? [first, second] : [second, first];
      // Read off an axis, the error of a difference is that of two values.
      if (!readable.isLabeled || value(more) === value(less)) return undefined;
      const question = `By how much is ${compared(more, less)}? ${inUnit}`;
      return ask(question, { cells: [more, less] });
    }
    case 'ratio': {
      if (!isReadable([first, second]) || value(second) === 0) return undefined;
      const question = `What is ${phrase(first)} divided by ${phrase(second)}? Give two decimals.`;
      return ask(question, { cells: [first, second] });
    }
    case 'sum': {
      const cells = third !== undefined && level === 4 ? [first, second, third] : [first, second];
      if (!table.isAdditive || along !== 'row' || !isReadable(cells)) return undefined;
      const listed = cells.map(({ row }) => inWords(row));
      const comma = listed.length > 2 ? ',' : '';
      const text = `${listed.slice(0, -1).join(', ')}${comma} and ${listed.at(-1)}`;
      return ask(`What is the total ${table.measure} of ${text}${when}? ${inUnit}`, { cells });
    }
    case 'mean': {
      if (!isReadable(slice)) return undefined;
      const scope =
        along === 'row'
          ? `${table.measure} of the ${table.row[1]} shown${when}`
          : `${measureOf(table, fixed)} over the years shown`;
      return ask(`What is the mean ${scope}? ${inUnit} Give two decimals.`, { cells: slice });
    }
    case 'count': {
      const threshold = roundThreshold((value(first) + value(second)) / 2, high - low);
      if (slice.some((cell) => !isClear(value(cell), threshold))) return undefined;
      const bound = `above ${amountOf(table, threshold)}`;
      const question =
        along === 'row'
          ? `How many of the ${table.row[1]} shown have ${oneOf(table)} ${bound}${when}?`
          : `In how many of the years shown is the ${measureOf(table, fixed)} ${bound}?`;
      return ask(question, { cells: slice, threshold });
    }
    case 'compare':
      if (!isClear(value(first), value(second))) return undefined;
      return ask(`Is ${compared(first, second)}? Answer yes or no.`, {
        cells: [first, second],
      });
    case 'trend': {
      const [start, end] = [slice[0], slice.at(-1)];
      if (along !== 'column' || start === undefined || end === undefined) return undefined;
      if (!isClear(value(start), value(end))) return undefined;
      const span = `from ${start.column} to ${end.column}`;
      const subject = measureOf(table, fixed);
      return ask(`Does the ${subject} rise or fall ${span}? Answer rise or fall.`, {
        cells: [start, end],
      });
    }
  }
}

/** A threshold with few digits: a multiple of 1, 2 or 5 times a power of ten. */
function roundThreshold(value: number, range: number): number {
  const power = 10 ** Math.floor(Math.log10(range / 10));
  const step = range / 10 / power >= 5 ? 5 * power : range / 10 / power >= 2 ? 2 * power : power;
  return Number((Math.round(value / step) * step).toFixed(6));
}

/** Values have one decimal, so sums and differences do too. */
const oneDecimal = (value: number): string => String(Number(value.toFixed(1)));
const twoDecimals = (value: number): string => (Math.round(value * 100 + 1e-7) / 100).toFixed(2);

function answerOf(program: ChartProgram, value: (cell: Cell) => number): string {
  const values = program.cells.map(value);
  const [first = 0, second = 0] = values;
  const sum = values.reduce((total, each) => total + each, 0);
  switch (program.operation) {
    case 'lookup':
      return oneDecimal(first);
    case 'highest':
    case 'lowest': {
      const best = program.operation === 'highest' ? Math.max(...values) : Math.min(...values);
      return program.cells[values.indexOf(best)]?.[program.along ?? 'row'] ?? '';
    }
    case 'difference':
      return oneDecimal(first - second);
    case 'ratio':
      return twoDecimals(first / second);
    case 'sum':
      return oneDecimal(sum);
    case 'mean':
      return twoDecimals(sum / values.length);
    case 'count':
      return String(values.filter((each) => each > (program.threshold ?? 0)).length);
    case 'compare':
      return first > second ? 'yes' : 'no';
    case 'trend':
      return first < second ? 'rise' : 'fall';
  }
}
