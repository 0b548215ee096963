/** Detailed captions of charts: VISTA's ChartVLM. */
import { detailOf } from '../charts/captions.ts';
import { readChart } from '../charts/chart-reading.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

export const chartvlm = defineVisionTool({
  name: 'chartvlm',
  description:
    'Describes a chart in detail: its kind, colors, legend, ranges of its axes and of its values.',
  says: 'sentences built from the table and the parts that unichart and chartdet read.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['chart'],
  async embedded({ image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    return answered(`ChartVLM Caption:\n${detailOf(await readChart(engine, image))}`);
  },
});
