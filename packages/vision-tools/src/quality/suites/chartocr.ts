/** Texts of charts and their roles. */
import { chartCases, chartImage } from '../charts/cases.ts';
import { textScores } from '../charts/score-parts.ts';
import type { QualitySuite } from '../quality.ts';
import { reader } from './unichart.ts';

export const chartocr: QualitySuite = {
  tool: 'chartocr',
  backing: reader,
  async cases() {
    const all = await chartCases();
    return await Promise.all(
      all.map(async (chart) => ({
        name: `${chart.id} ${chart.kind} ${chart.style}`,
        images: await chartImage(chart),
        given: { output: 'svg' },
        score: ({ stdout }) => textScores(stdout, chart),
      })),
    );
  },
};
