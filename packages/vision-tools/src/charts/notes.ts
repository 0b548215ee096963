/** Notes for the reader of a chart's table: where it is less sure than it looks. */
import type { ReadChart } from './chart-reading.ts';
import { valuesOf } from './facts.ts';

/** Below this a value is named as doubtful. */
const doubtful = 0.6;

/** Notes, each on a line of its own; none if there is nothing to say. */
export function notesOn({ table, xAxis, yAxis }: ReadChart): readonly string[] {
  const axis = table.isHorizontal ? xAxis : yAxis;
  const isUnnamed =
    table.series.length > 1 && table.series.some(({ namedBy }) => namedBy === 'color');
  const unlabeled = table.rows.filter((row) => row.startsWith('(unlabeled')).length;
  const unsure = valuesOf(table).filter(({ confidence }) => confidence < doubtful);
  const missing = table.cells.flat().filter((cell) => cell === null).length;
  return [
    ...(axis?.isLog === true && table.kind !== 'pie' ? ['The scale is logarithmic.'] : []),
    ...(isUnnamed
      ? ['The chart names some series in no legend: they are called by their color.']
      : []),
    ...(unlabeled > 0 ? [`${unlabeled} labels of rows could not be read.`] : []),
    ...(missing > 0 ? [`${missing} values were not seen.`] : []),
    ...(unsure.length > 0 ? [`${unsure.length} values are doubtful.`] : []),
  ].map((note) => `Note: ${note}`);
}
