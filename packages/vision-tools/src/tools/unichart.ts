/** Charts to tables: VISTA's UniChart. */
import { readChart } from '../charts/chart-reading.ts';
import { gridOf, linearTable } from '../charts/grid.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

export const unichart = defineVisionTool({
  name: 'unichart',
  description:
    "Reads the data table behind a chart, as UniChart's linear table: cells are separated by " +
    '" | ", rows by " & "; the first row is the head. "-" stands where no mark was seen.',
  says:
    'bars, lines, areas, sectors and points found by color, scaled by the numbers on the axes, which ' +
    'PP-OCRv4 reads. A chart without a scale is declined.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['chart'],
  async embedded({ image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    return answered(linearTable(gridOf(await readChart(engine, image))));
  },
});
