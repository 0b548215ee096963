/** Finds how a geometry diagram is built: VISTA's construction_cdl. */
import { defineVisionTool, imageIndex } from '../define-vision-tool.ts';
import { writeStatement } from '../geometry/cdl/write-cdl.ts';
import { isDeclined, readDiagram } from '../geometry/read-diagram.ts';
import { answered } from '../outcomes.ts';

export const constructionCdl = defineVisionTool({
  name: 'construction_cdl',
  description:
    'Finds the construction of a geometry diagram (CDL): Collinear for points on a line in order, ' +
    'Cocircular for points on a circle and Shape for faces, both counterclockwise.',
  says: 'strokes by Hough transform and least squares, letters by PP-OCRv4.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['image_cdl'],
  async embedded({ image_index = 0 }, context, engine) {
    const diagram = await readDiagram(context, image_index, engine);
    if (isDeclined(diagram)) return diagram;
    const lines = diagram.construction.map(writeStatement);
    return answered(`Construction CDL Result:\n${lines.join('\n')}`);
  },
});
