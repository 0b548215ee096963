/** VizWiz: questions of blind people about their photographs, with the answers of ten others. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const vizwiz = defineMapping({
  name: 'vizwiz',
  description:
    'VizWiz: questions of blind people about their photographs, with the answers of ten others.',
  sources: ['lmms-lab/VizWiz-VQA', 'lmms-lab-encoder/VizWiz-VQA'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: { value: 'answers', as: 'all' },
    metadata: { category: 'category' },
  },
});
