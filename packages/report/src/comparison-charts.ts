/** The curves of a comparison as one SVG file. */

import { drawChartGrid } from './chart-grid.ts';
import { type ComparedRun, comparisonCharts } from './comparison.ts';

/**
 * The curves of several runs in one SVG document, one color per run. The charts are those of
 * `comparisonCharts`.
 */
export function drawComparison(runs: readonly ComparedRun[]): string {
  const labels = runs.map(({ label }) => label);
  return drawChartGrid(`Curves of ${labels.join(', ')}`, [
    { labels, charts: comparisonCharts(runs) },
  ]);
}
