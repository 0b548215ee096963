/** Runs the program of a question on the table of a chart. */
import type { ReadChart } from './chart-reading.ts';
import { mean, median, ranked, sum, trendOf, type Value, valuesOf } from './facts.ts';
import { numberText } from './grid.ts';
import type { CellPlace, Extreme, Program, Relation, Selection } from './program.ts';
import { kindText } from './words.ts';

/** An answer, and the values of the chart that it rests on. */
export interface Answer {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Values that differ by less are equal as far as pixels tell. */
const equality = 0.02;

/** The answer of a program; undefined where a value that it needs was not seen in the chart. */
export function answerOf(program: Program, chart: ReadChart): Answer | undefined {
  switch (program.op) {
    case 'lookup':
      return withValues([cellAt(chart, program.cell)], ([cell]) => numberText(cell.value));
    case 'extreme': {
      const found = nth(selected(chart, program.of), program.extreme);
      return withValues([found], ([value]) =>
        program.gives === 'value' ? numberText(value.value) : labelOf(value, chart, program.of),
      );
    }
    case 'isExtreme': {
      const cell = cellAt(chart, program.cell);
      const found = nth(
        selected(chart, { rows: [], series: [program.cell.series] }),
        program.extreme,
      );
      return withValues([cell, found], ([own, best]) => yesNo(own.row === best.row));
    }
    case 'difference':
    case 'change':
    case 'ratio':
    case 'percentChange': {
      const [first, second] = [program.first, program.second].map((place) =>
        'rank' in place ? nth(selected(chart, program.of), place) : cellAt(chart, place),
      );
      return withValues([first, second], ([a, b]) => pairText(program.op, a.value, b.value));
    }
    case 'sum':
    case 'mean':
    case 'median': {
      const { op, of, top } = program;
      const all = selected(chart, of);
      const order = ranked(all);
      const used =
        top === undefined
          ? all
          : top.which === 'max'
            ? order.slice(0, top.count)
            : order.slice(-top.count);
      if (used.length === 0 || (top !== undefined && used.length < top.count)) return undefined;
      const numbers = used.map(({ value }) => value);
      return { text: shortText({ sum, mean, median }[op](numbers)), values: used };
    }
    case 'share': {
      const all = selected(chart, program.of);
      const whole = sum(all.map(({ value }) => value));
      return withValues([cellAt(chart, program.cell)], ([cell]) =>
        whole === 0 ? undefined : `${shortText((100 * cell.value) / whole)}%`,
      );
    }
    case 'count':
      return { text: String(countOf(chart, program.what)), values: [] };
    case 'countWhere': {
      const { relation, bound } = program.condition;
      const fitting = selected(chart, program.of).filter(({ value }) =>
        holds(value, relation, bound),
      );
      return { text: String(fitting.length), values: fitting };
    }
    case 'compare': {
      const { first, relation, second } = program;
      const other = typeof second === 'number' ? second : cellAt(chart, second);
      if (typeof other === 'number') {
        return withValues([cellAt(chart, first)], ([a]) => yesNo(holds(a.value, relation, other)));
      }
      return withValues([cellAt(chart, first), other], ([a, b]) =>
        yesNo(holds(a.value, relation, b.value)),
      );
    }
    case 'trend': {
      const values = valuesOf(chart.table, { series: program.series });
      if (values.length < 3) return undefined;
      const trend = trendOf(values.map(({ value }) => value));
      const asked = { rises: 'increasing', falls: 'decreasing' } as const;
      const text = program.asks === 'trend' ? trend : yesNo(trend === asked[program.asks]);
      return { text, values };
    }
    case 'about':
      return aboutText(chart, program.what);
    case 'color': {
      const name = chart.table.series[program.series]?.colorName ?? undefined;
      return name === undefined ? undefined : { text: name, values: [] };
    }
  }
}

type Known<Values extends readonly (Value | undefined)[]> = {
  [Index in keyof Values]: Value;
};

/** An answer that rests on values which must all have been seen. */
function withValues<const Values extends readonly (Value | undefined)[]>(
  values: Values,
  text: (known: Known<Values>) => string | undefined,
): Answer | undefined {
  const seen = values.filter((value) => value !== undefined);
  if (seen.length < values.length) return undefined;
  const said = text(seen as unknown as Known<Values>);
  return said === undefined ? undefined : { text: said, values: seen };
}

function cellAt({ table }: ReadChart, { row, series }: CellPlace): Value | undefined {
  return valuesOf(table, { row, series })[0];
}

function selected({ table }: ReadChart, { rows, series }: Selection): readonly Value[] {
  const names = new Set(rows);
  const chosen = new Set(series);
  return table.rows.flatMap((_, row) =>
    names.size > 0 && !names.has(row)
      ? []
      : table.series.flatMap((__, index) =>
          chosen.size > 0 && !chosen.has(index) ? [] : valuesOf(table, { row, series: index }),
        ),
  );
}

function nth(values: readonly Value[], { which, rank }: Extreme): Value | undefined {
  const order = ranked(values);
  return which === 'max' ? order[rank - 1] : order.at(-rank);
}

/** The row, the series, or both, whichever the question leaves open. */
function labelOf({ row, series }: Value, { table }: ReadChart, of: Selection): string {
  const isOneSeries = table.series.length === 1 || of.series.length === 1;
  if (isOneSeries) return row;
  return of.rows.length === 1 ? series : `${row} (${series})`;
}

function pairText(
  op: 'difference' | 'change' | 'ratio' | 'percentChange',
  a: number,
  b: number,
): string | undefined {
  if (op === 'difference') return shortText(Math.abs(a - b));
  if (op === 'change') return shortText(b - a);
  if (op === 'ratio') return b === 0 ? undefined : shortText(a / b);
  return a === 0 ? undefined : `${shortText((100 * (b - a)) / Math.abs(a))}%`;
}

/** A computed number with four significant digits: more would only be noise of the reading. */
function shortText(value: number): string {
  const size = Math.abs(value) < 1 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  return numberText(size >= 4 ? Math.round(value) : Number(value.toPrecision(4)));
}

function holds(value: number, relation: Relation, bound: number): boolean {
  if (relation === '>') return value > bound;
  if (relation === '<') return value < bound;
  return Math.abs(value - bound) <= equality * Math.max(Math.abs(value), Math.abs(bound));
}

function yesNo(isSo: boolean): string {
  return isSo ? 'Yes' : 'No';
}

function countOf({ table }: ReadChart, what: 'rows' | 'series' | 'values' | 'points'): number {
  if (what === 'rows') return table.rows.length;
  if (what === 'series') return table.series.length;
  if (what === 'points') return sum(table.points.map((points) => points.length));
  return valuesOf(table).length;
}

function aboutText(
  chart: ReadChart,
  what: 'kind' | 'title' | 'xTitle' | 'yTitle',
): Answer | undefined {
  const text = what === 'kind' ? kindText(chart.table) : chart[what];
  return text === null ? undefined : { text, values: [] };
}
