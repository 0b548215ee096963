/** A table as data, from which every form of it is written: a page, CSV, JSON, LaTeX, Markdown. */
import { formatNumber, formatPercent } from '../numbers.ts';

/** How the values of a column are written for people. */
export type CellKind = 'text' | 'share' | 'points' | 'number' | 'count' | 'pValue';

/** A number with its interval. */
export interface IntervalValue {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/** A value as it was measured; undefined where there is none. */
export type CellValue = string | number | IntervalValue | undefined;

/** A column. */
export interface TableColumn {
  /** Its name in CSV and JSON, `snake_case`. */
  readonly key: string;
  /** Its heading for people. */
  readonly title: string;
  readonly kind: CellKind;
  /** Whether its numbers have intervals; they get two columns more in CSV. */
  readonly hasInterval?: boolean;
}

/** A table. */
export interface Table {
  /** Names its files: kebab-case. */
  readonly name: string;
  readonly title: string;
  /** Sentences below the title: what is counted, and over what. */
  readonly about: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly CellValue[])[];
}

function isInterval(value: CellValue): value is IntervalValue {
  return typeof value === 'object';
}

/** The number of a cell; undefined for text and for nothing. */
function numberOf(value: CellValue): number | undefined {
  const number = isInterval(value) ? value.estimate : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A cell as people read it: `91.0 % (86.2 to 94.2)`, `+3.0 points`, a dash for nothing. */
export function formatCell(value: CellValue, kind: CellKind): string {
  if (typeof value === 'string') return value;
  const number = numberOf(value);
  if (number === undefined) return '–';
  if (!isInterval(value)) return formatValue(number, kind);
  const [low, high] = [value.low, value.high].map((end) => bare(formatValue(end, kind)));
  return `${formatValue(number, kind)} (${low} to ${high})`;
}

/** Without its unit, for ends of an interval beside a number that has it. */
function bare(text: string): string {
  return text.replace(/ (%|points)$/, '');
}

function formatValue(value: number, kind: CellKind): string {
  if (kind === 'share') return formatPercent(value);
  if (kind === 'points') {
    const text = (100 * value)
      .toFixed(1)
      .replace(/^-/, '−')
      .replace(/^−0\.0$/, '0.0');
    return `${value > 0 && text !== '0.0' ? '+' : ''}${text} points`;
  }
  if (kind === 'pValue') return value < 0.001 ? '< 0.001' : value.toFixed(3);
  return kind === 'count' ? formatNumber(Math.round(value)) : formatNumber(value);
}
