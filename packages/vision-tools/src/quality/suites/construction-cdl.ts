/** How diagrams are built, in styles that the reader was not looked at with, and pages without one. */
import { diagramSuite } from '../figures/diagram-suite.ts';
import { builtTruth, parted, statementScores, statementsIn } from '../figures/statements.ts';
import type { QualitySuite } from '../quality.ts';

export const constructionCdl: QualitySuite = diagramSuite(
  'construction_cdl',
  ({ stdout }, figure) =>
    statementScores(
      parted(statementsIn(stdout)).built,
      builtTruth(figure),
      { lines: figure.drawing.lines, isOriented: true },
      'statements',
    ),
);
