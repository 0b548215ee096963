/** DocVQA: questions about scanned documents. */
import { defineMapping } from '../mapping/define-mapping.ts';

export const docvqa = defineMapping({
  name: 'docvqa',
  description: 'DocVQA: questions about scanned documents.',
  sources: ['lmms-lab-encoder/DocVQA'],
  schemaFrom: 'its task in lmms-eval',
  isVerified: true,
  declaration: {
    question: 'question',
    images: 'image',
    answer: { value: 'answers', as: 'all' },
    metadata: { questionId: 'questionId' },
  },
});
