/** VizWiz: questions of blind people about their photographs; the answer of most people. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const vizwiz = defineMapping({
  name: 'vizwiz',
  description: 'VizWiz: questions of blind people about their photographs; the answer of most people.',
  sources: ['lmms-lab/VizWiz-VQA', 'lmms-lab-encoder/VizWiz-VQA'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: { value: 'answers', as: 'majority' },
    metadata: { category: 'category' },
  },
});
