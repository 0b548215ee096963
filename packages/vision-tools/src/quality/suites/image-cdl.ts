/** Measures and marks of diagrams, in styles that the reader was not looked at with. */
import { diagramSuite } from '../figures/diagram-suite.ts';
import { marksTruth, parted, statementScores, statementsIn } from '../figures/statements.ts';
import type { QualitySuite } from '../quality.ts';

export const imageCdl: QualitySuite = diagramSuite('image_cdl', ({ stdout }, figure) =>
  statementScores(
    parted(statementsIn(stdout)).marks,
    marksTruth(figure),
    { lines: figure.drawing.lines, isOriented: true },
    'marks',
  ),
);
