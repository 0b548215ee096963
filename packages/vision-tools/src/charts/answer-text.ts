/** Answers to questions about a chart, in words. */
import { DeclinedError } from '../workers/vision-engine.ts';
import { answerOf } from './answers.ts';
import type { ReadChart } from './chart-reading.ts';
import { numberText } from './grid.ts';
import { programOf } from './questions.ts';

/** Values that an answer names at most. */
const mostValues = 6;

/**
 * The answer to a question, and the values that it rests on.
 *
 * @throws DeclinedError `CannotAnswer` if the question is outside of the grammar, or needs a value that
 *   was not seen
 */
export function answerText(chart: ReadChart, question: string, isBrief: boolean): string {
  const program = programOf(question, chart);
  if ('problem' in program) {
    throw new DeclinedError('CannotAnswer', `This question cannot be answered. ${program.problem}`);
  }
  const answer = answerOf(program, chart);
  if (answer === undefined) {
    throw new DeclinedError(
      'CannotAnswer',
      'A value that the question needs was not seen in the chart. Read the table with to_table.',
    );
  }
  if (isBrief || answer.values.length === 0) return answer.text;
  const isMany = chart.table.series.length > 1;
  const used = answer.values.slice(0, mostValues).map(({ row, series, value }) => {
    const name = isMany ? `${row}, ${series}` : row;
    return `${name} = ${numberText(value)}`;
  });
  const more =
    answer.values.length > mostValues ? `, and ${answer.values.length - mostValues} more` : '';
  const sure = Math.min(...answer.values.map(({ confidence }) => confidence));
  return `${answer.text}\nFrom: ${used.join('; ')}${more}. Confidence of reading: ${sure.toFixed(2)}.`;
}
