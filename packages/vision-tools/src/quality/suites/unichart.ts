/** The tables of charts, as one line each. */
import { chartSuite } from '../charts/chart-suite.ts';
import { linearTable, tableScores } from '../charts/score-table.ts';
import type { QualitySuite } from '../quality.ts';

export const unichart: QualitySuite = chartSuite('unichart', ({ kind, stdout }, chart) => {
  const table = kind === 'ok' ? linearTable(stdout, ' & ') : undefined;
  return { ...tableScores(table, chart), answered: Number(kind === 'ok') };
});
