/** Charts to tables: VISTA's DePlot. */
import { readChart } from '../charts/chart-reading.ts';
import { deplotTable, gridOf } from '../charts/grid.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

export const deplot = defineVisionTool({
  name: 'deplot',
  description:
    "Reads the data table behind a chart, as DePlot's linear table: the title first, cells separated " +
    'by " | ", rows by " <0x0A> ". "-" stands where no mark was seen.',
  says:
    'bars, lines, areas, sectors and points found by color, scaled by the numbers on the axes, which ' +
    'PP-OCRv4 reads. A chart without a scale is declined.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['chart'],
  async embedded({ image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    const chart = await readChart(engine, image);
    return answered(deplotTable(chart.title, gridOf(chart)));
  },
});
