/** ChartQA: questions about charts by people and by a program. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const chartqa = defineMapping({
  name: 'chartqa',
  description: 'ChartQA: questions about charts by people and by a program.',
  sources: ['HuggingFaceM4/ChartQA'],
  schemaFrom: "the data set's card",
  isVerified: true,
  declaration: {
    question: 'query',
    images: 'image',
    answer: { value: 'label', as: 'all' },
    metadata: { writtenBy: 'human_or_machine' },
  },
});
