/** Short captions of charts: VISTA's ChartAssistant. */
import { summaryOf } from '../charts/captions.ts';
import { readChart } from '../charts/chart-reading.ts';
import { defineVisionTool, imageAt, imageIndex, isOutcome } from '../define-vision-tool.ts';
import { answered } from '../outcomes.ts';

export const chartassistant = defineVisionTool({
  name: 'chartassistant',
  description: 'Sums a chart up in words: its kind, its trends, the highest and lowest values.',
  says: 'sentences built from the table that unichart reads; trends by the Mann-Kendall test.',
  parameters: { image_index: imageIndex },
  example: {},
  operations: ['chart'],
  async embedded({ image_index = 0 }, context, engine) {
    const image = imageAt(context, image_index);
    if (isOutcome(image)) return image;
    return answered(`ChartAssistant Summary:\n${summaryOf(await readChart(engine, image))}`);
  },
});
