/** Texts of charts and their roles. */
import { chartSuite } from '../charts/chart-suite.ts';
import { textScores } from '../charts/score-parts.ts';
import type { QualitySuite } from '../quality.ts';

export const chartocr: QualitySuite = chartSuite(
  'chartocr',
  ({ stdout }, chart) => textScores(stdout, chart),
  { output: 'svg' },
);
