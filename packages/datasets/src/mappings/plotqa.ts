/** PlotQA: questions about plots of real data, from its original files. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const plotqa = defineMapping({
  name: 'plotqa',
  description: 'PlotQA: questions about plots of real data, from its original files.',
  sources: ['PlotQA'],
  schemaFrom: 'arXiv:1909.00997 and the release of the data',
  isVerified: false,
  declaration: {
    question: 'question_string',
    images: { file: 'png/{image_index}.png' },
    answer: 'answer',
    metadata: { kind: 'type', template: 'template' },
  },
});
