/** Measures and marks of diagrams, in styles that the reader was not looked at with. */
import { drawnFigures } from '../figures/figure-cases.ts';
import { marksTruth, parted, statementScores, statementsIn } from '../figures/statements.ts';
import type { QualitySuite } from '../quality.ts';
import { diagramReader, pages } from './construction-cdl.ts';

export const imageCdl: QualitySuite = {
  tool: 'image_cdl',
  backing: diagramReader,
  async cases(draw) {
    const figures = await drawnFigures(draw);
    const cases = figures.map((figure) => ({
      ...{ name: figure.name, images: figure.images, given: {} },
      score: ({ stdout }: { readonly stdout: string }) =>
        statementScores(
          parted(statementsIn(stdout)).marks,
          marksTruth(figure),
          { lines: figure.drawing.lines, isOriented: true },
          'marks',
        ),
    }));
    return [...cases, ...(await pages(draw))];
  },
};
