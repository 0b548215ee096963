/** Reads the measures and marks of a geometry diagram: VISTA's image_cdl. */
import { defineVisionTool, imageIndex } from '../define-vision-tool.ts';
import { writeStatement } from '../geometry/cdl/write-cdl.ts';
import { isDeclined, readDiagram } from '../geometry/read-diagram.ts';
import { answered } from '../outcomes.ts';

export const imageCdl = defineVisionTool({
  name: 'image_cdl',
  description:
    'Translates a geometry diagram into formal statements (CDL), one a line: its lines, circles and ' +
    'faces, then the measures and marks that it shows, such as Equal(LengthOfLine(AB),5).',
  says:
    'strokes by Hough transform and least squares, marks by templates, letters and numbers by ' +
    'PP-OCRv4; full circles and unbroken lines only.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['image_cdl'],
  async embedded({ image_index = 0 }, context, engine) {
    const diagram = await readDiagram(context, image_index, engine);
    if (isDeclined(diagram)) return diagram;
    const lines = [...diagram.construction, ...diagram.marks].map(writeStatement);
    if (diagram.unread.length > 0) lines.push(`Not understood: ${diagram.unread.join(' | ')}`);
    return answered(`Image CDL Result:\n${lines.join('\n')}`);
  },
});
