/** The charts of `unichart`, with their titles. */
import { chartSuite } from '../charts/chart-suite.ts';
import { isSameLabel } from '../charts/labels.ts';
import { linearTable, tableScores } from '../charts/score-table.ts';
import type { QualitySuite } from '../quality.ts';

const rowEnd = ' <0x0A> ';

export const deplot: QualitySuite = chartSuite('deplot', ({ kind, stdout }, chart) => {
  if (kind !== 'ok') return { ...tableScores(undefined, chart), titles: 0 };
  const [title = '', ...rest] = stdout.split(rowEnd);
  return {
    ...tableScores(linearTable(rest.join(rowEnd), rowEnd), chart),
    titles: Number(isSameLabel(title.replace('TITLE | ', ''), chart.title)),
  };
});
