/** The curves of a comparison as one SVG file. */
import { type ComparedRun, comparisonCharts } from './comparison.ts';
import { drawPicture } from './picture-of-charts.ts';

export function drawComparison(runs: readonly ComparedRun[]): string {
  const labels = runs.map(({ label }) => label);
  return drawPicture(`Curves of ${labels.join(', ')}`, [
    { labels, charts: comparisonCharts(runs) },
  ]);
}
