/** The structure of charts: VISTA's ChartDet. */
import { z } from 'zod';
import { readParts } from '../charts/chart-reading.ts';
import { sceneGraphOf } from '../charts/scene-graph.ts';
import { structureSvg } from '../charts/svg.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered, declined } from '../outcomes.ts';

export const chartdet = defineVisionTool({
  name: 'chartdet',
  description:
    'Finds the parts of a chart: plot, axes, gridlines, ticks, legend swatches, bars, lines, markers, ' +
    'sectors, points. Gives them as SVG, or with the texts as a scene graph in JSON: nodes, and edges ' +
    'for series, rows, axes and colors of the legend.',
  says: 'straight rules, regions of color and their geometry in OpenCV; PP-OCRv4 for texts.',
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
    if (chart.marks.length + chart.rules.length === 0) {
      return declined('NothingFound', 'There are no parts of a chart in this image.');
    }
    const found = output === 'scg' ? JSON.stringify(sceneGraphOf(chart)) : structureSvg(chart);
    return answered(`ChartDet Detection Result:\n${found}`);
  },
});
