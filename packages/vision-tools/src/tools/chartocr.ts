/** The texts of charts: VISTA's ChartOCR. */
import { z } from 'zod';
import { readParts } from '../charts/chart-reading.ts';
import { sceneGraphOf } from '../charts/scene-graph.ts';
import { textSvg } from '../charts/svg.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered, declined } from '../outcomes.ts';

export const chartocr = defineVisionTool({
  name: 'chartocr',
  description:
    'Reads the texts of a chart and says what each is: title, title of an axis, tick, category, legend, ' +
    'value. Gives them as SVG with what they belong to in data-anchor, or with the marks as a scene ' +
    'graph in JSON.',
  says: 'PP-OCRv4, with roles by position; turned and tiny labels are read a second time.',
  parameters: {
    output: z.enum(['svg', 'scg']).optional().describe('svg by default; scg is the scene graph.'),
    image_index: imageIndex,
  },
  example: { output: 'svg' },
  operations: ['chart'],
  async embedded({ output = 'svg', image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    const chart = await readParts(engine, image);
    if (chart.texts.length === 0) {
      return declined('NothingFound', 'There is no text in this image.');
    }
    const found = output === 'scg' ? JSON.stringify(sceneGraphOf(chart)) : textSvg(chart);
    return answered(`ChartOCR Recognition Result:\n${found}`);
  },
});
