/** ChartQA as lmms-lab publishes it. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const chartqaLmms = defineMapping({
  name: 'chartqa-lmms',
  description: 'ChartQA as lmms-lab publishes it.',
  sources: ['lmms-lab/ChartQA', 'lmms-lab-encoder/ChartQA'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: 'answer',
    metadata: { writtenBy: 'type' },
  },
});
